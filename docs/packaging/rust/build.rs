//! Compiles the C files of the bundle, and src/device.c, into one static library.
//! HS_SORTS names the folder of the bundle; CC and AR name other programs than cc and ar.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn run(command: &mut Command) {
    let status = command
        .status()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

fn main() {
    let crate_folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let bundle = env::var("HS_SORTS")
        .map(PathBuf::from)
        .unwrap_or_else(|_| crate_folder.join("sorts"));
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    println!("cargo:rerun-if-env-changed=HS_SORTS");
    println!(
        "cargo:rerun-if-changed={}",
        bundle.join("manifest.json").display()
    );
    println!("cargo:rerun-if-changed=src/device.c");

    let list = bundle.join("sources/vulkan.txt");
    let text = fs::read_to_string(&list).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; generate a bundle: hsgen generate --api vulkan -o sorts",
            list.display()
        )
    });
    let mut sources: Vec<PathBuf> = text
        .lines()
        .filter(|line| line.ends_with(".c"))
        .map(|line| bundle.join(line))
        .collect();
    sources.push(crate_folder.join("src/device.c"));

    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let library = out.join("libhs_sorts.a");
    let _ = fs::remove_file(&library);
    let mut archive = Command::new(env::var("AR").unwrap_or_else(|_| "ar".into()));
    archive.arg("crs").arg(&library);
    for (number, source) in sources.iter().enumerate() {
        let object = out.join(format!("{number}.o"));
        compile(&compiler, &bundle, source, &object);
        archive.arg(object);
    }
    run(&mut archive);
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=hs_sorts");
    println!("cargo:rustc-link-lib=dylib=vulkan");
}

fn compile(compiler: &str, bundle: &Path, source: &Path, object: &Path) {
    let mut command = Command::new(compiler);
    command
        .args(["-std=c99", "-O2", "-fPIC", "-c"])
        .arg("-I")
        .arg(bundle.join("include"));
    run(command.arg(source).arg("-o").arg(object));
}
