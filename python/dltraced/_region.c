/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions of Python programs by dltraced.h: what _fallback.py has, at a third of its cost. The lock of the interpreter
 * is kept during a message, which takes less time than to give it up. No state is outside of objects and of the module,
 * so that each interpreter of a process may have its own.
 *
 * With Py_LIMITED_API=0x030c0000 it is one library for Python 3.12 and all later ones; 3.9 to 3.11 need their own, as
 * the calls without a tuple are 3.12's there.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "dltraced.h"

struct module {
	PyTypeObject *region, *function, *iterator;
	PyObject *ends; /* the exceptions that end an iterator: no failure */
	PyObject *method; /* types.MethodType: the limited API has no PyMethod_New() */
};

/* What was begun before it, by the same object in a recursion, is in OUTER. */
struct region {
	PyObject_HEAD dltraced_region r; /* r.name: while it is running */
	PyObject *name; /* of at most DLTRACED_NAME_MAX bytes */
	PyObject *outer; /* NULL or a list of starts */
	uint8_t base_args_len; /* of the arguments that are not of one use alone */
};

struct function {
	PyObject_HEAD vectorcallfunc vectorcall;
	PyObject *call;
	struct region *made; /* each call is a region like it */
	PyObject *dict, *weakrefs;
};

struct iterator {
	PyObject_HEAD PyObject *items;
	iternextfunc next; /* of the type of ITEMS */
	struct region *made;
	int64_t step;
};

/* Objects of ours know their module by their type, which is never inherited from. */
static struct module *module_of(PyTypeObject *type)
{
	return PyType_GetModuleState(type);
}

static PyTypeObject *type_of(const void *object)
{
	return Py_TYPE((PyObject *)object);
}

/* --- numbers and text ------------------------------------------------------------------------------------- */

static int number_take(PyObject *value, int64_t *ret)
{
	PyObject *index;
	long long n;

	if (value == Py_None) {
		*ret = DLTRACED_NONE;
		return 0;
	}
	index = PyNumber_Index(value);
	if (!index)
		return -1;
	n = PyLong_AsLongLong(index);
	Py_DECREF(index);
	if (n == -1 && PyErr_Occurred()) {
		if (PyErr_ExceptionMatches(PyExc_OverflowError))
			PyErr_SetString(PyExc_OverflowError, "a number of a region has 64 bits");
		return -1;
	}
	*ret = n;
	return 0;
}

static PyObject *bytes_of(PyObject *text)
{
	return PyUnicode_AsEncodedString(text, "utf-8", "replace");
}

/* Returns the bytes of TEXT up to its first NUL and to SIZE, cut between two characters. */
static PyObject *bytes_cut(PyObject *text, Py_ssize_t size)
{
	PyObject *all = bytes_of(text), *cut;
	const char *p;
	Py_ssize_t len;

	if (!all)
		return NULL;
	p = PyBytes_AsString(all);
	len = (Py_ssize_t)strlen(p);
	if (len > size)
		for (len = size; len > 0 && ((unsigned char)p[len] & 0xc0) == 0x80;)
			len--;
	cut = PyBytes_FromStringAndSize(p, len);
	Py_DECREF(all);
	return cut;
}

/* Returns NAME, or what of it a message has room for. */
static PyObject *name_clean(PyObject *name)
{
	Py_ssize_t len;
	const char *text;
	PyObject *cut, *cleaned;

	if (!PyUnicode_Check(name)) {
		PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(name), "__name__");

		if (type)
			PyErr_Format(PyExc_TypeError, "a region's name is a str, not %U", type);
		Py_XDECREF(type);
		return NULL;
	}
	text = PyUnicode_AsUTF8AndSize(name, &len);
	if (text && len <= DLTRACED_NAME_MAX && (Py_ssize_t)strlen(text) == len) {
		Py_INCREF(name);
		return name;
	}
	PyErr_Clear();
	cut = bytes_cut(name, DLTRACED_NAME_MAX);
	if (!cut)
		return NULL;
	cleaned = PyUnicode_DecodeUTF8(PyBytes_AsString(cut), PyBytes_Size(cut), "replace");
	Py_DECREF(cut);
	if (cleaned && !PyUnicode_AsUTF8AndSize(cleaned, NULL))
		Py_CLEAR(cleaned);
	return cleaned;
}

/* "KEY=VALUE" in a line of its own; left out where it does not fit. */
static int pair_add(struct region *self, PyObject *key, PyObject *value)
{
	PyObject *pair = PyUnicode_FromFormat("%S=%S", key, value), *bytes = pair ? bytes_of(pair) : NULL;
	size_t len, at = self->r.args_len;
	const char *text;

	Py_XDECREF(pair);
	if (!bytes)
		return -1;
	text = PyBytes_AsString(bytes);
	len = (size_t)PyBytes_Size(bytes);
	if (at + (at > 0) + len <= DLTRACED_ARGS_MAX) {
		if (at)
			self->r.args[at++] = '\n';
		for (size_t i = 0; i < len; i++)
			self->r.args[at++] = (char)(text[i] == '\n' || !text[i] ? ' ' : text[i]);
		self->r.args_len = (uint8_t)at;
	}
	Py_DECREF(bytes);
	return 0;
}

/* One keyword of region() or of update(). */
static int field_take(struct region *self, PyObject *key, PyObject *value, int updated)
{
	static const struct {
		const char *name;
		size_t offset;
	} numbers[] = {
		{ "step", offsetof(struct region, r.step) },
		{ "epoch", offsetof(struct region, r.epoch) },
		{ "bytes", offsetof(struct region, r.bytes) },
		{ "lane", offsetof(struct region, r.lane) },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (PyUnicode_CompareWithASCIIString(key, numbers[i].name))
			continue;
		return updated && value == Py_None ? 0 :
						     number_take(value, (int64_t *)((char *)self + numbers[i].offset));
	}
	if (!updated && !PyUnicode_CompareWithASCIIString(key, "live")) {
		int live = PyObject_IsTrue(value);

		self->r.live = live > 0;
		return live < 0 ? -1 : 0;
	}
	return pair_add(self, key, value);
}

/* --- a region --------------------------------------------------------------------------------------------- */

static struct region *region_new(PyTypeObject *type)
{
	struct region *self = PyObject_New(struct region, type);

	if (!self)
		return NULL;
	self->name = self->outer = NULL;
	self->base_args_len = 0;
	self->r.name = NULL;
	self->r.start_ns = 0;
	self->r.epoch = self->r.step = self->r.bytes = self->r.lane = DLTRACED_NONE;
	self->r.live = self->r.flags = self->r.source = self->r.args_len = 0;
	return self;
}

static void region_free(struct region *self)
{
	PyTypeObject *type = type_of(self);

	Py_XDECREF(self->name);
	Py_XDECREF(self->outer);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* region(name, *, epoch=, step=, bytes=, lane=, live=, **args) */
static PyObject *region_make(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *keywords)
{
	struct module *m = PyModule_GetState(module);
	Py_ssize_t n_keywords = keywords ? PyTuple_Size(keywords) : 0;
	PyObject *name = n == 1 ? args[0] : NULL;
	struct region *self;

	if (n > 1 || (n == 0 && !n_keywords)) {
		PyErr_SetString(PyExc_TypeError, "region() takes a name, and the rest by keywords");
		return NULL;
	}
	self = region_new(m->region);
	if (!self)
		return NULL;
	for (Py_ssize_t i = 0; i < n_keywords; i++) {
		PyObject *key = PyTuple_GetItem(keywords, i), *value = args[n + i];

		if (!name && !PyUnicode_CompareWithASCIIString(key, "name"))
			name = value;
		else if (field_take(self, key, value, 0) < 0)
			goto failed;
	}
	if (!name) {
		PyErr_SetString(PyExc_TypeError, "region() takes a name");
		goto failed;
	}
	self->name = name_clean(name);
	if (!self->name)
		goto failed;
	self->base_args_len = self->r.args_len;
	return (PyObject *)self;
failed:
	Py_DECREF(self);
	return NULL;
}

/* Returns the name's bytes, which live as long as the object. */
static const char *name_text(const struct region *self)
{
	return PyUnicode_AsUTF8AndSize(self->name, NULL); /* made by name_clean(): never NULL */
}

static PyObject *region_enter(struct region *self, PyObject *none)
{
	if (self->r.name) { /* begun already, as in a recursion */
		PyObject *start = PyLong_FromUnsignedLongLong(self->r.start_ns);

		if (!self->outer)
			self->outer = PyList_New(0);
		if (!start || !self->outer || PyList_Append(self->outer, start) < 0) {
			Py_XDECREF(start);
			return NULL;
		}
		Py_DECREF(start);
	}
	self->r.name = name_text(self);
	self->r.flags = 0;
	self->r.start_ns = dltraced_now_();
	if (self->r.live)
		dltraced_send_(DLTRACED_OP_BEGIN, &self->r, self->r.args, 0);
	Py_INCREF((PyObject *)self);
	return (PyObject *)self;
}

static void region_end(struct region *self, uint8_t flags)
{
	Py_ssize_t n_outer = self->outer ? PyList_Size(self->outer) : 0;

	if (!self->r.name)
		return;
	self->r.flags = flags;
	dltraced_send_(self->r.live ? DLTRACED_OP_END : DLTRACED_OP_WHOLE, &self->r, self->r.args, self->r.args_len);
	if (!n_outer) {
		self->r.name = NULL;
		self->r.args_len = self->base_args_len;
		return;
	}
	self->r.start_ns = PyLong_AsUnsignedLongLong(PyList_GetItem(self->outer, n_outer - 1));
	PyList_SetSlice(self->outer, n_outer - 1, n_outer, NULL);
}

static PyObject *region_exit(struct region *self, PyObject *const *args, Py_ssize_t n)
{
	uint8_t flags = 0;

	if (n && args[0] != Py_None && !PyErr_GivenExceptionMatches(args[0], module_of(type_of(self))->ends))
		flags = DLTRACED_FAILED;
	region_end(self, flags);
	Py_RETURN_NONE;
}

static PyObject *region_stop(struct region *self, PyObject *none)
{
	region_end(self, 0);
	Py_RETURN_NONE;
}

static PyObject *region_update(struct region *self, PyObject *const *args, Py_ssize_t n, PyObject *keywords)
{
	if (n) {
		PyErr_SetString(PyExc_TypeError, "update() takes keywords alone");
		return NULL;
	}
	for (Py_ssize_t i = 0; keywords && i < PyTuple_Size(keywords); i++)
		if (field_take(self, PyTuple_GetItem(keywords, i), args[i], 1) < 0)
			return NULL;
	if (!self->r.name)
		self->base_args_len = self->r.args_len;
	Py_RETURN_NONE;
}

static PyObject *region_copy(struct region *self, PyObject *none)
{
	struct region *other = region_new(type_of(self));

	if (!other)
		return NULL;
	other->r = self->r;
	other->r.name = NULL;
	other->r.args_len = other->base_args_len = self->base_args_len;
	other->name = self->name;
	Py_INCREF(other->name);
	return (PyObject *)other;
}

/* What is not hot is Python's: NAME of MODULE. */
static PyObject *python_function(const char *module, const char *name)
{
	PyObject *m = PyImport_ImportModule(module), *function = m ? PyObject_GetAttrString(m, name) : NULL;

	Py_XDECREF(m);
	return function;
}

static PyObject *python_call(const char *name, PyObject *self, PyObject *arg)
{
	PyObject *function = python_function("dltraced._decorate", name);
	PyObject *result = function ? PyObject_CallFunctionObjArgs(function, self, arg, NULL) : NULL;

	Py_XDECREF(function);
	return result;
}

static PyObject *region_call(PyObject *self, PyObject *args, PyObject *keywords)
{
	PyObject *function;

	if ((keywords && PyDict_Size(keywords)) || !PyArg_ParseTuple(args, "O", &function))
		return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "a region decorates one function");
	return python_call("decorate", self, function);
}

static PyObject *region_aenter(PyObject *self, PyObject *none)
{
	return python_call("enter", self, NULL);
}

static PyObject *region_aexit(PyObject *self, PyObject *args)
{
	return python_call("leave", self, args);
}

static PyObject *number_get(PyObject *self, void *offset)
{
	int64_t n = *(int64_t *)((char *)self + (size_t)offset);

	if (n == DLTRACED_NONE)
		Py_RETURN_NONE;
	return PyLong_FromLongLong(n);
}

static int number_set(PyObject *self, PyObject *value, void *offset)
{
	return number_take(value ? value : Py_None, (int64_t *)((char *)self + (size_t)offset));
}

/* For pickle and copy, which get it as it was before it began. */
static PyObject *region_reduce(struct region *self, PyObject *none)
{
	PyObject *made = python_function("dltraced._decorate", "remade"), *reduced;

	if (!made)
		return NULL;
	reduced = Py_BuildValue("O(OiiNNNNN)", made, self->name, self->r.live, self->r.source,
				number_get((PyObject *)self, (void *)offsetof(struct region, r.epoch)),
				number_get((PyObject *)self, (void *)offsetof(struct region, r.step)),
				number_get((PyObject *)self, (void *)offsetof(struct region, r.bytes)),
				number_get((PyObject *)self, (void *)offsetof(struct region, r.lane)),
				PyBytes_FromStringAndSize(self->r.args, self->base_args_len));
	Py_DECREF(made);
	return reduced;
}

#define NUMBER(member)                                                                           \
	{                                                                                        \
#member, number_get, number_set, NULL, (void *)offsetof(struct region, r.member) \
	}

static PyGetSetDef region_numbers[] = { NUMBER(epoch), NUMBER(step), NUMBER(bytes), NUMBER(lane), { 0 } };

static PyMemberDef region_members[] = {
	{ "name", T_OBJECT, offsetof(struct region, name), READONLY, NULL },
	{ 0 },
};

#define METHOD(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef region_methods[] = {
	{ "__enter__", METHOD(region_enter), METH_NOARGS, NULL },
	{ "__exit__", METHOD(region_exit), METH_FASTCALL, NULL },
	{ "__aenter__", region_aenter, METH_NOARGS, NULL },
	{ "__aexit__", region_aexit, METH_VARARGS, NULL },
	{ "start", METHOD(region_enter), METH_NOARGS, "It begins now." },
	{ "stop", METHOD(region_stop), METH_NOARGS, "It ends now; nothing where it has not begun." },
	{ "update", METHOD(region_update), METH_FASTCALL | METH_KEYWORDS, "More about it." },
	{ "copy", METHOD(region_copy), METH_NOARGS, "The same, not begun." },
	{ "__reduce__", METHOD(region_reduce), METH_NOARGS, NULL },
	{ 0 },
};

/* Without a name there is no region. Py_TPFLAGS_DISALLOW_INSTANTIATION is 3.10's. */
static PyObject *no_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	return PyErr_Format(PyExc_TypeError, "%R is not made by its class: see dltraced.region()", type);
}

static PyType_Slot region_slots[] = {
	{ Py_tp_new, no_new },
	{ Py_tp_doc, "A span of time with a name; see dltraced.region." },
	{ Py_tp_dealloc, region_free },
	{ Py_tp_methods, region_methods },
	{ Py_tp_members, region_members },
	{ Py_tp_getset, region_numbers },
	{ Py_tp_call, region_call },
	{ 0 },
};

static PyType_Spec region_spec = {
	.name = "dltraced._region.Region",
	.basicsize = sizeof(struct region),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = region_slots,
};

/* --- a decorated function --------------------------------------------------------------------------------- */

static int is_end(struct module *m)
{
	return PyErr_ExceptionMatches(m->ends);
}

static PyObject *function_call(PyObject *o, PyObject *const *args, size_t n, PyObject *keywords)
{
	struct function *self = (struct function *)o;
	dltraced_region r = self->made->r;
	struct region *made = self->made;
	PyObject *result;

	r.name = name_text(made);
	r.args_len = made->base_args_len;
	r.start_ns = dltraced_now_();
	if (r.live)
		dltraced_send_(DLTRACED_OP_BEGIN, &r, r.args, 0);
	Py_INCREF((PyObject *)made); /* the call may drop the last reference to us */
	result = PyObject_Vectorcall(self->call, args, n, keywords);
	r.flags = result || is_end(module_of(type_of(made))) ? 0 : DLTRACED_FAILED;
	dltraced_send_(r.live ? DLTRACED_OP_END : DLTRACED_OP_WHOLE, &r, r.args, r.args_len);
	Py_DECREF(made);
	return result;
}

static int function_traverse(struct function *self, visitproc visit, void *arg)
{
	Py_VISIT(type_of(self));
	Py_VISIT(self->call);
	Py_VISIT(self->dict);
	return 0;
}

static int function_clear(struct function *self)
{
	Py_CLEAR(self->dict);
	Py_CLEAR(self->call);
	return 0;
}

static void function_free(struct function *self)
{
	PyTypeObject *type = type_of(self);

	PyObject_GC_UnTrack(self);
	if (self->weakrefs)
		PyObject_ClearWeakRefs((PyObject *)self);
	function_clear(self);
	Py_XDECREF((PyObject *)self->made);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

/* As a plain function's: bound to the object that it was looked up in. A call of it does without, by its flag. */
static PyObject *function_bind(PyObject *self, PyObject *object, PyObject *type)
{
	if (object && object != Py_None)
		return PyObject_CallFunctionObjArgs(module_of(type_of(self))->method, self, object, NULL);
	Py_INCREF(self);
	return self;
}

/* By its name, as functions are. */
static PyObject *function_reduce(PyObject *self, PyObject *none)
{
	return PyObject_GetAttrString(self, "__qualname__");
}

static PyObject *function_repr(PyObject *self)
{
	return PyUnicode_FromFormat("<%R, a region %R>", ((struct function *)self)->call,
				    ((struct function *)self)->made->name);
}

static PyMethodDef function_methods[] = {
	{ "__reduce__", function_reduce, METH_NOARGS, NULL },
	{ 0 },
};

static PyMemberDef function_members[] = {
	{ "__vectorcalloffset__", T_PYSSIZET, offsetof(struct function, vectorcall), READONLY, NULL },
	{ "__dictoffset__", T_PYSSIZET, offsetof(struct function, dict), READONLY, NULL },
	{ "__weaklistoffset__", T_PYSSIZET, offsetof(struct function, weakrefs), READONLY, NULL },
	{ 0 },
};

static PyGetSetDef function_getset[] = {
	{ "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL },
	{ 0 },
};

static PyType_Slot function_slots[] = {
	{ Py_tp_new, no_new },
	{ Py_tp_dealloc, function_free },
	{ Py_tp_traverse, function_traverse },
	{ Py_tp_clear, function_clear },
	{ Py_tp_call, PyVectorcall_Call },
	{ Py_tp_descr_get, function_bind },
	{ Py_tp_repr, function_repr },
	{ Py_tp_methods, function_methods },
	{ Py_tp_members, function_members },
	{ Py_tp_getset, function_getset },
	{ 0 },
};

static PyType_Spec function_spec = {
	.name = "dltraced._region.Function",
	.basicsize = sizeof(struct function),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_METHOD_DESCRIPTOR |
#if PY_VERSION_HEX >= 0x030c0000
		 Py_TPFLAGS_HAVE_VECTORCALL,
#else
		 _Py_TPFLAGS_HAVE_VECTORCALL,
#endif
	.slots = function_slots,
};

/* timed_function(function, region): FUNCTION, each call of it a region. */
static PyObject *timed_function(PyObject *module, PyObject *args)
{
	struct module *m = PyModule_GetState(module);
	PyObject *call, *made, *wraps, *result;
	struct function *self;

	if (!PyArg_ParseTuple(args, "OO!", &call, m->region, &made))
		return NULL;
	self = PyObject_GC_New(struct function, m->function);
	if (!self)
		return NULL;
	Py_INCREF(call);
	Py_INCREF(made);
	self->vectorcall = function_call;
	self->call = call;
	self->made = (struct region *)made;
	self->dict = self->weakrefs = NULL;
	PyObject_GC_Track(self);
	wraps = python_function("functools", "update_wrapper");
	result = wraps ? PyObject_CallFunctionObjArgs(wraps, (PyObject *)self, call, NULL) : NULL;
	Py_XDECREF(wraps);
	Py_DECREF(self);
	return result;
}

/* --- an iterator ------------------------------------------------------------------------------------------ */

/* PyObject_GetIter() has checked that there is one. Before 3.10 PyType_GetSlot() refuses types that are not on the
 * heap. */
static iternextfunc iternext_of(PyTypeObject *type)
{
#ifdef Py_LIMITED_API
	return (iternextfunc)PyType_GetSlot(type, Py_tp_iternext);
#else
	return type->tp_iternext;
#endif
}

static PyObject *iterator_next(struct iterator *self)
{
	dltraced_region r = self->made->r;
	PyObject *item;

	r.name = name_text(self->made);
	r.args_len = self->made->base_args_len;
	r.step = self->step++;
	r.live = 0;
	r.flags = 0;
	r.start_ns = dltraced_now_();
	item = self->next(self->items);
	if (!item) {
		if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_StopIteration))
			dltraced_update_int(&r, "end", 1);
		else
			r.flags = DLTRACED_FAILED;
	}
	dltraced_send_(DLTRACED_OP_WHOLE, &r, r.args, r.args_len);
	return item;
}

static int iterator_traverse(struct iterator *self, visitproc visit, void *arg)
{
	Py_VISIT(type_of(self));
	Py_VISIT(self->items);
	return 0;
}

static void iterator_free(struct iterator *self)
{
	PyTypeObject *type = type_of(self);

	PyObject_GC_UnTrack(self);
	Py_XDECREF(self->items);
	Py_XDECREF((PyObject *)self->made);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

static PyObject *iterator_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	struct module *m = module_of(type);
	PyObject *iterable, *made;
	struct iterator *self;

	if (!m || !PyArg_ParseTuple(args, "OO!", &iterable, m->region, &made))
		return NULL;
	iterable = PyObject_GetIter(iterable);
	if (!iterable)
		return NULL;
	self = PyObject_GC_New(struct iterator, type);
	if (!self) {
		Py_DECREF(iterable);
		return NULL;
	}
	Py_INCREF(made);
	self->items = iterable;
	self->next = iternext_of(Py_TYPE(iterable));
	self->made = (struct region *)made;
	self->step = self->made->r.step == DLTRACED_NONE ? 0 : self->made->r.step;
	PyObject_GC_Track(self);
	return (PyObject *)self;
}

static PyType_Slot iterator_slots[] = {
	{ Py_tp_new, iterator_new },       { Py_tp_dealloc, iterator_free },  { Py_tp_traverse, iterator_traverse },
	{ Py_tp_iter, PyObject_SelfIter }, { Py_tp_iternext, iterator_next }, { 0 },
};

static PyType_Spec iterator_spec = {
	.name = "dltraced._region.Iterator",
	.basicsize = sizeof(struct iterator),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = iterator_slots,
};

/* --- the module ------------------------------------------------------------------------------------------- */

/* send(region, op, start=0, value=None): a message of its own. */
static PyObject *send_one(PyObject *module, PyObject *args)
{
	struct module *m = PyModule_GetState(module);
	PyObject *made, *value = Py_None, *text = NULL;
	unsigned long long start = 0;
	dltraced_region r;
	int op;

	if (!PyArg_ParseTuple(args, "O!i|KO", m->region, &made, &op, &start, &value))
		return NULL;
	if (value != Py_None) {
		text = bytes_cut(value, DLTRACED_ARGS_MAX);
		if (!text)
			return NULL;
	}
	r = ((struct region *)made)->r;
	r.name = name_text((struct region *)made);
	r.flags = 0;
	r.start_ns = start ? start : dltraced_now_();
	dltraced_send_(op, &r, text ? PyBytes_AsString(text) : r.args, text ? (size_t)PyBytes_Size(text) : r.args_len);
	Py_XDECREF(text);
	Py_RETURN_NONE;
}

/* with_source(region, source): it, which SOURCE is the source of from now on. */
static PyObject *with_source(PyObject *module, PyObject *args)
{
	struct module *m = PyModule_GetState(module);
	unsigned char source;
	PyObject *made;

	if (!PyArg_ParseTuple(args, "O!b", m->region, &made, &source))
		return NULL;
	((struct region *)made)->r.source = source;
	Py_INCREF(made);
	return made;
}

static PyMethodDef module_methods[] = {
	{ "region", METHOD(region_make), METH_FASTCALL | METH_KEYWORDS,
	  "region(name, *, epoch=None, step=None, bytes=None, lane=None, live=False, **args)\n\n"
	  "A region: a context manager and a decorator." },
	{ "send", send_one, METH_VARARGS, NULL },
	{ "timed_function", timed_function, METH_VARARGS, NULL },
	{ "with_source", with_source, METH_VARARGS, NULL },
	{ 0 },
};

static int module_exec(PyObject *module)
{
	struct module *m = PyModule_GetState(module);

	m->method = python_function("types", "MethodType");
	m->ends = PyTuple_Pack(3, PyExc_StopIteration, PyExc_StopAsyncIteration, PyExc_GeneratorExit);
	m->region = (PyTypeObject *)PyType_FromModuleAndSpec(module, &region_spec, NULL);
	m->function = (PyTypeObject *)PyType_FromModuleAndSpec(module, &function_spec, NULL);
	m->iterator = (PyTypeObject *)PyType_FromModuleAndSpec(module, &iterator_spec, NULL);
	if (!m->ends || !m->method || !m->region || !m->function || !m->iterator)
		return -1;
	if (PyModule_AddType(module, m->region) < 0 || PyModule_AddType(module, m->iterator) < 0)
		return -1;
	return 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
	struct module *m = PyModule_GetState(module);

	Py_VISIT(m->region);
	Py_VISIT(m->function);
	Py_VISIT(m->iterator);
	Py_VISIT(m->ends);
	Py_VISIT(m->method);
	return 0;
}

static int module_clear(PyObject *module)
{
	struct module *m = PyModule_GetState(module);

	Py_CLEAR(m->region);
	Py_CLEAR(m->function);
	Py_CLEAR(m->iterator);
	Py_CLEAR(m->ends);
	Py_CLEAR(m->method);
	return 0;
}

static PyModuleDef_Slot module_slots[] = {
	{ Py_mod_exec, module_exec },
#ifdef Py_MOD_PER_INTERPRETER_GIL_SUPPORTED
	{ Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED },
#endif
	{ 0 },
};

static struct PyModuleDef module_def = {
	PyModuleDef_HEAD_INIT,       .m_name = "dltraced._region", .m_size = sizeof(struct module),
	.m_methods = module_methods, .m_slots = module_slots,      .m_traverse = module_traverse,
	.m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__region(void)
{
	return PyModuleDef_Init(&module_def);
}
