"""Marks of functions that serve as operations and workflows; the function itself stays what it is."""


def _marking(marks):
    def decorate(function=None, **given):
        if function is None:
            return lambda f: decorate(f, **given)
        for name, (attribute, default) in marks.items():
            setattr(function, attribute, given.get(name, default))
        return function
    return decorate


operation = _marking({'resumable': ('resumable', False)})
task = operation
workflow = _marking({
    'resumable': ('resumable', False),
    'system_wide': ('workflow_system_wide', False),
})
