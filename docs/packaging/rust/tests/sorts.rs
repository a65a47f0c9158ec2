//! Sorts on the first Vulkan device, compared with the standard library's stable sort.
use hs_sorts::{PairSorter, Sorter};

fn random(n: usize) -> Vec<u32> {
    let mut state = 2463534242u32;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        })
        .collect()
}

#[test]
fn keys_are_sorted() {
    let mut sorter = Sorter::new(5000).unwrap();
    println!("{} with target {}", sorter.device(), sorter.target());
    for n in [0, 1, 2, 257, 5000] {
        let mut keys = random(n);
        let mut model = keys.clone();
        model.sort();
        sorter.sort(&mut keys).unwrap();
        assert_eq!(keys, model);
    }
    assert!(!sorter
        .sort(&mut random(5001))
        .unwrap_err()
        .to_string()
        .is_empty());
}

#[test]
fn pairs_are_sorted_and_equal_keys_keep_their_order() {
    let n = 3000;
    let mut keys: Vec<u32> = random(n).iter().map(|key| key % 100).collect();
    let mut values: Vec<u32> = (0..n as u32).collect();
    let mut model: Vec<(u32, u32)> = keys.iter().copied().zip(values.iter().copied()).collect();
    model.sort_by_key(|pair| pair.0);
    let mut sorter = PairSorter::new(n).unwrap();
    // A sorter moves to another thread.
    let sorted = std::thread::spawn(move || {
        sorter.sort(&mut keys, &mut values).unwrap();
        keys.into_iter().zip(values).collect::<Vec<_>>()
    });
    assert_eq!(sorted.join().unwrap(), model);
}
