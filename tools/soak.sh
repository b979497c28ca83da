#!/usr/bin/env bash
# The long soak over the fake plugin, through the layer: plain, AddressSanitizer, ThreadSanitizer.
# usage: soak.sh [PRESET…]      release, asan and tsan unless said
# SOAK_EXECUTES, SOAK_COMPILES, SOAK_THREADS, SOAK_FORKS, SOAK_LIFTS, SOAK_STORMS: 1e7, 1e4, 64, 200,
# 100000, 200 unless said.
# Then a zoo of hostile Python objects, under every Python here and in STET_TEST_PYTHONS: SOAK_ZOO (2000) compiles with a
# fresh seed, which it prints. For release also jobs of several processes in their long form (tests/pod).
set -euo pipefail
cd "$(dirname "$0")/.."
presets=("$@")
[[ ${#presets[@]} -gt 0 ]] || presets=(release asan tsan)

for preset in "${presets[@]}"; do
    cmake --preset "$preset" >/dev/null
    cmake --build --preset "$preset" --target soak journal_dump fake_pjrt guest_driver \
        stet_plugin stet_preload stet_cpu test_lift_random lift_storm >/dev/null
    for way in plugin preload store; do
        printf '%-8s %-8s ' "$preset" "$way"
        tests/soak/through.sh $way "build/$preset/bin" "build/$preset/lib" \
            --executes "${SOAK_EXECUTES:-1e7}" --compiles "${SOAK_COMPILES:-1e4}" \
            --threads "${SOAK_THREADS:-64}" --forks "${SOAK_FORKS:-200}"
    done
    # lifted programs against plain ones, on the CPU backend
    seed=$RANDOM
    echo "$preset lifted programs, seed $seed"
    STET_LIFT_PROGRAMS="${SOAK_LIFTS:-100000}" STET_LIFT_SEED=$seed "build/$preset/bin/test_lift_random"
    echo "$preset threads that lift, seed $seed"
    STET_LIFT=1 STET_STORE="$PWD/build/$preset/storm/store" STET_DIR="$PWD/build/$preset/storm/run" \
        STET_PLUGIN="$PWD/build/$preset/lib/libstet_cpu.so" LAYER="$PWD/build/$preset/lib/libstet_plugin.so" \
        "build/$preset/bin/lift_storm" "${SOAK_STORMS:-200}" $seed
    [[ $preset != tsan ]] || continue # Python is not built for it
    if [[ $preset == release ]]; then
        cmake --build --preset release --target stet stet_cpu >/dev/null
        VALUES=50 AGAIN=50 python3 tests/lift/test_lift_jax.py build/release build/env/jax/bin/python
        VALUES=50 python3 tests/lift/test_lift_devices.py build/release build/env/jax/bin/python
        for device in xla tpu; do
            VALUES=50 python3 tests/lift/test_lift_torch.py build/release "build/env/torch$device/bin/python" $device
        done
        # jobs of several processes
        cmake --build --preset release --target pod_rank fake_pjrt bench_pod >/dev/null
        build/release/bin/bench_pod table
        POD_RANKS=512 python3 tests/pod/test_light.py build/release
        POD_LONG=1 python3 tests/pod/test_pod.py build/release build/env/jax/bin/python
        POD_LONG=1 python3 tests/pod/test_torchrun.py build/release build/env/torchtpu/bin/python
    fi
    sanitizer=
    [[ $preset != asan ]] || sanitizer=$(cc -print-file-name=libasan.so)
    seed=$RANDOM
    echo "$preset zoo, seed $seed"
    LIB=$PWD/build/$preset/lib BIN=$PWD/build/$preset/bin WORK=$PWD/build/$preset/zoo SOURCE=$PWD SANITIZER=$sanitizer \
        SEED=$seed ROUNDS=${SOAK_ZOO:-2000} bash tests/intercept/python_zoo_is_read_without_harm.sh
done
