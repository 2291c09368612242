use super::*;

/// Threads fill four buffers again and again. Each chunk arrives whole, and none overwrites a buffer
/// that is not free.
#[test]
fn chunks_arrive_whole() {
    for (bytes, chunk_bytes, helpers) in
        [(1, 64, 1), (5000, 64, 3), (1 << 20, 1 << 20, 2), (9 * PART_BYTES + 5, 2 * PART_BYTES + 7, 3)]
    {
        let input: Vec<MaybeUninit<u8>> = (0..bytes).map(|i| MaybeUninit::new((i * 7 % 251) as u8)).collect();
        let mut memory = vec![vec![MaybeUninit::new(255_u8); chunk_bytes]; 4];
        let buffers: Vec<Pinned> = memory.iter_mut().map(|bytes| Pinned(bytes.as_mut_ptr())).collect();
        // SAFETY: the buffers have room, and only this test uses them.
        let filling = unsafe { Filling::new(&input, chunk_bytes, &buffers) };
        std::thread::scope(|scope| {
            let _stop = StopOnDrop(&filling);
            (0..helpers).for_each(|_| drop(scope.spawn(|| filling.help())));
            for (index, chunk) in input.chunks(chunk_bytes).enumerate() {
                let filled = filling.wait(index);
                // SAFETY: both were written.
                let same = unsafe {
                    std::slice::from_raw_parts(filled.as_ptr().cast::<u8>(), filled.len())
                        == std::slice::from_raw_parts(chunk.as_ptr().cast::<u8>(), chunk.len())
                };
                assert!(same, "{bytes} bytes in chunks of {chunk_bytes}: chunk {index}");
                filling.free(index + 1 + 4);
            }
        });
    }
}

/// A caller that stops early lets the threads end.
#[test]
fn threads_end_when_the_caller_stops() {
    let input = vec![MaybeUninit::new(1_u8); 100 * PART_BYTES];
    let mut memory = vec![vec![MaybeUninit::new(0_u8); PART_BYTES]; 4];
    let buffers: Vec<Pinned> = memory.iter_mut().map(|bytes| Pinned(bytes.as_mut_ptr())).collect();
    // SAFETY: the buffers have room, and only this test uses them.
    let filling = unsafe { Filling::new(&input, PART_BYTES, &buffers) };
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&filling);
        (0..3).for_each(|_| drop(scope.spawn(|| filling.help())));
        filling.wait(0);
    });
}
