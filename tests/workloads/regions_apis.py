# SPDX-License-Identifier: BSD-2-Clause
"""regions_apis.py: a program for DFTracer, and the callbacks of Lightning's and Hugging Face's trainers, which are called by
their names here. Its regions are in tests/native/probes/regions-apis.sh."""
import sys
import types

import dltraced.dftracer


def by_dftracer():
    if not dltraced.dftracer.install():
        sys.exit("the real one is here")
    from dftracer.logger import dft_fn, dftracer
    from dftracer.python import ai

    log = dftracer.initialize_log("file.pfw", "/data", -1)
    compute, reader = dft_fn("compute"), dft_fn("reader", epoch=1)

    class Reader:
        @reader.log_init
        def __init__(self, path, image_idx=0):
            self.path = path

        @reader.log
        def read(self, image_idx, image_size=4096, step=0):
            return image_idx

        @compute.log_static
        def static(x):
            return x

    r = Reader("x", image_idx=5)
    if (r.read(1), r.read(image_idx=2, image_size=8192, step=3), r.static(4), Reader.static(5)) != (1, 2, 4, 5):
        sys.exit("other results")
    for _ in reader.iter(range(2)):
        pass
    with dft_fn("io", name="block", step=4) as block:
        block.update(epoch=2, image_idx=7, args={"k": "v"})
    with dft_fn("io", name="related") as related:
        related.uses("file", "a")
        related.uses("file", "b")
        related.generates("model", 3)
    with dft_fn("io", name="related") as related:
        related.uses("file", "a")
    start = log.get_time()
    log.enter_event()
    log.log_event("event", "own", start, log.get_time() - start, int_args={"n": 1}, string_args={"s": "t"},
                  relations={0: [log.declare_entity("file", "a"), 5]})
    log.exit_event()
    log.log_metadata_event("key", "value")

    @ai.compute  # a category is a name, too
    def all_of_it(x):
        return x

    class Model:
        @ai.compute.init
        def __init__(self):
            pass

    ai.update(epoch=2, step=7)
    Model()
    if all_of_it(3) != 3:
        sys.exit("other results")
    with ai.compute.forward.derive("block"):
        pass
    with ai.checkpoint.restart(args={"size": 5}):
        pass
    ai.comm.disable()
    with ai.comm.barrier:
        pass
    ai.comm.enable()
    ai.comm.barrier.start()
    ai.comm.barrier.stop()
    log.finalize()


def by_callbacks():
    class Base:
        pass

    for name in ("lightning", "lightning.pytorch", "lightning.pytorch.callbacks", "transformers"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = []
    sys.modules["lightning.pytorch.callbacks"].Callback = sys.modules["transformers"].TrainerCallback = Base
    import dltraced.hf
    import dltraced.lightning

    state = types.SimpleNamespace(current_epoch=3, global_step=30, epoch=4.5)
    regions = dltraced.lightning.Regions()
    regions.on_train_start(state, None)
    regions.on_train_epoch_start(state, None)
    regions.on_train_batch_start(state, None, None, 0)
    regions.on_before_backward(state, None, None)
    regions.on_after_backward(state, None)
    regions.on_train_batch_end(state, None, None, None, 0)
    regions.on_exception(state, None, KeyboardInterrupt())

    regions = dltraced.hf.Regions()
    regions.on_train_begin(None, state, None, model=None)
    regions.on_epoch_begin(None, state, None)
    regions.on_step_begin(None, state, None)
    regions.on_step_end(None, state, None)
    regions.on_save(None, state, None)
    regions.on_epoch_end(None, state, None)
    regions.on_train_end(None, state, None)


by_dftracer()
by_callbacks()
