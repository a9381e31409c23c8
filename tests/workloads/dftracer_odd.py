# SPDX-License-Identifier: BSD-2-Clause
"""dftracer_odd.py: calls of DFTracer's API with names, numbers of arguments and values that it does not have. None raises;
prints how many there were."""
import asyncio
import copy
import pickle
import sys
import traceback

import dltraced.dftracer

dltraced.dftracer.install()
import dftracer.python as D
from dftracer.python import EntityStore, TagDType, TagValue, ai, dft_fn, dftracer


class Bad:
    def __str__(self): raise RuntimeError("x")
    def __index__(self): raise RuntimeError("x")
    def __bool__(self): raise RuntimeError("x")
fn = dft_fn("io")
log = dftracer.initialize_log("a.pfw", "/data", -1)


def f(x=1): return x


class C:
    step = "no"
    @property
    def epoch(self): raise RuntimeError("p")
    @fn.log
    def m(self, image_idx=None): return 7
    @fn.log()
    @staticmethod
    def s(step): return step
    @fn.log_static
    def t(step): return step
    @fn.log(name="named")
    def n(self, epoch="x"): return epoch


calls = [
    lambda: dft_fn(),
    lambda: dft_fn(5),
    lambda: dft_fn(None),
    lambda: dft_fn("a", "b", 1, 2, 3, 4, True, 5, 6),
    lambda: dft_fn("a", wrong=1),
    lambda: dft_fn("a", epoch="x"),
    lambda: dft_fn("a", step=[1]),
    lambda: dft_fn("a", image_idx=Bad()),
    lambda: dft_fn("a", enable=Bad()),
    lambda: dft_fn(Bad(), Bad()),
    lambda: dft_fn("a").update("x", "y", "z", object()),
    lambda: fn.update(args=5),
    lambda: fn.update(args={"k": Bad()}),
    lambda: fn.update(args={5: 6, Bad(): 1, "name": 1, "live": 2, "epoch": "z"}),
    lambda: fn.update(1,2,3,4,{},6),
    lambda: fn.update(foo=1),
    lambda: fn.foo(),
    lambda: fn.foo(1, a=2)(3),
    lambda: fn.log(5),
    lambda: fn.log(f, 5)(),
    lambda: fn.log("name")(f)(),
    lambda: fn.log(f, name=Bad())(),
    lambda: dft_fn.log(f)(),
    lambda: dft_fn.update(step=1),
    lambda: fn.log_init(None),
    lambda: fn.log_static(3),
    lambda: fn.log_async(f)(),
    lambda: list(fn.iter(5)),
    lambda: list(fn.iter(None)),
    lambda: list(fn.iter([1,2], 3, 4)),
    lambda: list(fn.iter([1], name=Bad())),
    lambda: list(fn.iter()),
    lambda: list(fn.iter([1], "a", "epoch")),
    lambda: fn.flush(),
    lambda: fn.reset(),
    lambda: fn.__exit__(None,None,None),
    lambda: fn.__exit__(),
    lambda: fn.flush().flush(),
    lambda: log.log_event(),
    lambda: log.log_event("a"),
    lambda: log.log_event("a","b","c","d"),
    lambda: log.log_event("a","b",1,2,3,4,5,6,7),
    lambda: log.log_event(Bad(),Bad(),1,2,{"x":Bad()}),
    lambda: log.log_event("a","b",1,-5),
    lambda: log.log_event("a","b",1,1<<70),
    lambda: log.log_event("a","b",1,2,relations={1:[2]}),
    lambda: log.log_event("a","b",1,2,relations=5),
    lambda: log.log_event(name="a", cat="b", start_time=1, duration=2, unknown=3),
    lambda: log.log_metadata_event(),
    lambda: log.log_metadata_event(5, None),
    lambda: log.log_metadata_event(Bad(), Bad()),
    lambda: log.foo,
    lambda: log.foo(),
    lambda: dftracer.foo(),
    lambda: dftracer.get_time(),
    lambda: log.get_time(5),
    lambda: log.get_config(),
    lambda: log.get_config(5),
    lambda: log.finalize(1,2),
    lambda: log.finalize(),
    lambda: log.log_event("after", "end", 1, 2),
    lambda: dftracer.initialize_log(),
    lambda: dftracer.initialize_log(1,2,3,4,5),
    lambda: dftracer.initialize_log(Bad(), Bad(), Bad()),
    lambda: dftracer.initialize_log(foo=1),
    lambda: dftracer(5),
    lambda: log.set_app_metadata_int("a", "x"),
    lambda: log.set_app_metadata_int(),
    lambda: log.set_app_metadata_string("a", 5),
    lambda: log.mark_used(),
    lambda: log.declare_entity(),
    lambda: log.declare_entity(1,2,3,4),
    lambda: log.declare_entity_type("x", "y"),
    lambda: log.relate_entities("a","b","c"),
    lambda: log.relate_entities(),
    lambda: fn.uses("d","k"),
    lambda: fn.uses(),
    lambda: fn.generates("m", 5, EntityStore.OTHER, "u"),
    lambda: fn.relate("x", 5),
    lambda: fn.relate(),
    lambda: fn.relate_entity(99, 1, 2),
    lambda: TagValue(),
    lambda: TagValue("x", TagDType.INT).value(),
    lambda: TagValue("x", 5, 7).value(),
    lambda: TagValue(Bad()),
    lambda: TagValue(1, foo=2),
    lambda: TagValue(1).foo(),
    lambda: ai.foo(f)(),
    lambda: ai.compute.foo(f)(),
    lambda: ai.compute.foo.bar(f)(),
    lambda: ai.foo.bar.baz,
    lambda: ai.compute(5),
    lambda: ai.compute("x"),
    lambda: ai.compute(f, 5)(),
    lambda: ai.compute(f, foo=5)(),
    lambda: ai.compute.step(epoch="x")(f)(),
    lambda: ai.compute.step(args=5)(f)(),
    lambda: ai.compute.step(enable=Bad())(f)(),
    lambda: ai.compute.step(enable=False)(f)(),
    lambda: ai.update("a","b","c","d","e","f"),
    lambda: ai.update(foo=1),
    lambda: ai.update(args={"a": Bad()}),
    lambda: ai.compute.stop(),
    lambda: ai.compute.stop(5,6),
    lambda: ai.compute.start(Bad()),
    lambda: ai.compute.start(foo=1),
    lambda: ai.compute.reset(),
    lambda: ai.compute.derive(),
    lambda: ai.compute.derive(5),
    lambda: ai.compute.derive(Bad()),
    lambda: ai.compute.init(5),
    lambda: ai.compute.init(f)(),
    lambda: ai.compute.init(foo=1)(f)(),
    lambda: list(ai.dataloader.fetch.iter(5)),
    lambda: list(ai.dataloader.fetch.iter()),
    lambda: list(ai.pipeline.epoch.iter(3)),
    lambda: list(ai.pipeline.epoch.iter(["a"], foo=1)),
    lambda: list(ai.pipeline.epoch.iter([1], 2)),
    lambda: ai.enable(1),
    lambda: ai.disable(foo=1),
    lambda: ai.enable(),
    lambda: ai.create_children(5),
    lambda: ai.create_children({"x": 5}),
    lambda: ai.compute.get_time(3),
    lambda: ai.compute.forward(C),
    lambda: ai.compute.forward(staticmethod(f)),
    lambda: fn.log(C),
    lambda: fn.log(len)([1]),
    lambda: fn.log(print),
    lambda: C().m(),
    lambda: C().m("x"),
    lambda: C.s("x"),
    lambda: C.t(1),
    lambda: C().t(2),
    lambda: C().n(),
    lambda: fn.log(f)("x"),
    lambda: fn.log(lambda epoch, step=Bad(): 1)(Bad()),
    lambda: D.foo,
    lambda: D.foo(f)(),
    lambda: D.get_default_args(5),
    lambda: D.create_backend(1,2,3,4,5,6,7,8,9),
    lambda: D.dynamo.compile(f)(),
    lambda: D.dynamo.compile()(f)(),
    lambda: D.Dynamo(1,2),
    lambda: D.IO(),
    lambda: D.Compute("x", foo=1),
    lambda: D.AI(epoch="x"),
    lambda: D.DFTracerAI(),
    lambda: D.DFTracerAI(cat=5, foo=1),
    lambda: D.setup_logger(),
    lambda: D.setup_stream_logger(5),
    lambda: D.get_time_scale(5),
    lambda: D.get_iter_block_name(5),
    lambda: D.get_iter_handle_name(None),
    lambda: D.capture_signal(),
    lambda: pickle.loads(pickle.dumps(fn)),
    lambda: pickle.loads(pickle.dumps(ai.compute.step)),
    lambda: copy.deepcopy(fn),
    lambda: copy.deepcopy(ai),
]
bad = 0
for number, call in enumerate(calls):
    try:
        call()
    except Exception:
        bad += 1
        sys.stderr.write(f"call {number}: {traceback.format_exc(limit=-2)}\n")


async def main():
    @fn.log
    async def a(step): await asyncio.sleep(0); return step
    @ai.compute
    async def b(): await asyncio.sleep(0); return 1
    async def gen():
        yield 1
    assert (await a(4), await b(), [x async for x in fn.iter(gen())], [x async for x in ai.dataloader.fetch.iter(gen())]) == (4, 1, [1], [1])


asyncio.run(main())
print(len(calls), "calls,", bad, "raised")
