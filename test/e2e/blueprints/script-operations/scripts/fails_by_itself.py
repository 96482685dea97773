def breaks():
    raise RuntimeError('the saw broke')


breaks()
