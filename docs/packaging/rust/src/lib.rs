//! Sorts of `u32` keys, alone or with `u32` values, on the GPU through Vulkan.
//!
//! The C code is a bundle of hsgen in the folder `sorts`; see build.rs.
use std::ffi::{c_char, CStr};
use std::fmt;
use std::ptr::{null_mut, NonNull};

#[repr(C)]
struct Handle {
    _private: [u8; 0],
}

extern "C" {
    fn hsr_open(most: u64, valued: i32, to: *mut *mut Handle) -> i32;
    fn hsr_sort(sorter: *mut Handle, keys: *mut u32, values: *mut u32, n: u64) -> i32;
    fn hsr_close(sorter: *mut Handle);
    fn hsr_device(sorter: *const Handle) -> *const c_char;
    fn hsr_target(sorter: *const Handle) -> *const c_char;
    fn hsr_text(status: i32) -> *const c_char;
}

/// The status of a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    status: i32,
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: returns a literal for any status.
        to.write_str(&unsafe { CStr::from_ptr(hsr_text(self.status)) }.to_string_lossy())
    }
}

impl std::error::Error for Error {}

fn checked(status: i32) -> Result<(), Error> {
    if status == 0 {
        Ok(())
    } else {
        Err(Error { status })
    }
}

struct Owner(NonNull<Handle>);

// SAFETY: Vulkan's objects may be used by another thread; every call borrows the owner mutably.
unsafe impl Send for Owner {}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: the handle is from hsr_open and is closed once; no call is under way.
        unsafe { hsr_close(self.0.as_ptr()) }
    }
}

impl Owner {
    fn open(most: usize, valued: bool) -> Result<Self, Error> {
        let mut handle = null_mut();
        // SAFETY: `handle` is valid for a write.
        checked(unsafe { hsr_open(most as u64, i32::from(valued), &mut handle) })?;
        Ok(Owner(
            NonNull::new(handle).expect("hsr_open returned HS_OK without a handle"),
        ))
    }

    fn text(&self, of: unsafe extern "C" fn(*const Handle) -> *const c_char) -> String {
        // SAFETY: both functions return text that lives as long as the handle.
        unsafe { CStr::from_ptr(of(self.0.as_ptr())) }
            .to_string_lossy()
            .into_owned()
    }
}

/// Sorts keys on the first device that a target of the bundle fits.
pub struct Sorter(Owner);

impl Sorter {
    /// Open a device for sorts of up to `most` keys.
    pub fn new(most: usize) -> Result<Self, Error> {
        Owner::open(most, false).map(Sorter)
    }

    /// Sort keys in ascending order; returns when they are sorted.
    pub fn sort(&mut self, keys: &mut [u32]) -> Result<(), Error> {
        // SAFETY: the pointer is valid for as many keys as are passed.
        checked(unsafe {
            hsr_sort(
                self.0 .0.as_ptr(),
                keys.as_mut_ptr(),
                null_mut(),
                keys.len() as u64,
            )
        })
    }

    /// The name of the device.
    pub fn device(&self) -> String {
        self.0.text(hsr_device)
    }

    /// The target of the bundle that fits the device.
    pub fn target(&self) -> String {
        self.0.text(hsr_target)
    }
}

/// Sorts keys with their values; equal keys keep their order.
pub struct PairSorter(Owner);

impl PairSorter {
    /// Open a device for sorts of up to `most` pairs.
    pub fn new(most: usize) -> Result<Self, Error> {
        Owner::open(most, true).map(PairSorter)
    }

    /// Sort pairs by ascending keys; returns when they are sorted.
    ///
    /// # Panics
    /// The slices have different lengths.
    pub fn sort(&mut self, keys: &mut [u32], values: &mut [u32]) -> Result<(), Error> {
        assert_eq!(keys.len(), values.len(), "keys and values");
        // SAFETY: both pointers are valid for as many elements as are passed.
        checked(unsafe {
            hsr_sort(
                self.0 .0.as_ptr(),
                keys.as_mut_ptr(),
                values.as_mut_ptr(),
                keys.len() as u64,
            )
        })
    }
}
