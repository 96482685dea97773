"""ctx for Python programs that a script starts: a thin layer over the ctx command."""
import json
import subprocess


def _run(*words):
    """Calls the ctx command with words; anything but text is passed as JSON. Raises RuntimeError with its message."""
    command = ['ctx', '-j'] + [w if isinstance(w, str) else '@' + json.dumps(w) for w in words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode('utf-8', 'replace').strip())
    text = done.stdout.decode('utf-8')
    return json.loads(text) if text else None


class _Dict(object):
    def __init__(self, *path):
        self._path = path

    def __getitem__(self, key):
        try:
            return _run(*(self._path + (key,)))
        except RuntimeError as error:
            if 'illegal path' in str(error):
                raise KeyError(key)
            raise

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __setitem__(self, key, value):
        _run(*(self._path + (key, value if not isinstance(value, dict) else dict(value))))

    def __delitem__(self, key):
        _run(*(self._path + ('pop', key)))

    def __contains__(self, key):
        return key in _run(*self._path)

    def __iter__(self):
        return iter(_run(*self._path))

    def items(self):
        return _run(*self._path).items()

    def keys(self):
        return _run(*self._path).keys()


class _Node(object):
    def __init__(self, *path):
        self._path = path + ('node',)
        self.properties = _Dict(*(self._path + ('properties',)))

    def __getattr__(self, name):
        return _run(*(self._path + (name,)))


class _Instance(object):
    def __init__(self, *path):
        self._path = path + ('instance',)
        self.runtime_properties = _Dict(*(self._path + ('runtime_properties',)))

    def update(self):
        _run(*(self._path + ('update',)))

    def refresh(self):
        _run(*(self._path + ('refresh',)))

    def __getattr__(self, name):
        return _run(*(self._path + (name,)))


class _Side(object):
    def __init__(self, name):
        self.node = _Node(name)
        self.instance = _Instance(name)


class _Logger(object):
    def __getattr__(self, level):
        return lambda message: _run('logger', level, str(message))


class _Context(object):
    def __init__(self):
        self.node = _Node()
        self.instance = _Instance()
        self.source = _Side('source')
        self.target = _Side('target')
        self.logger = _Logger()

    def __call__(self, command):
        """ctx("instance id"): a command as one would write it in a shell."""
        return _run(*command.split())

    def __getattr__(self, name):
        return _run(name)

    def returns(self, data=None):
        _run('returns', data, {})

    def abort_operation(self, message=''):
        _run('abort_operation', message)

    def retry_operation(self, message='', retry_after=None):
        _run('retry_operation', message, {'retry_after': retry_after})

    def send_event(self, text):
        _run('send_event', text)

    def get_resource(self, path):
        return _run('get_resource', path)

    def download_resource(self, path, target_path=''):
        return _run('download_resource', path, {'target_path': target_path} if target_path else {})

    def download_directory(self, path, target_path=''):
        return _run('download_directory', path, {'target_path': target_path} if target_path else {})

    def download_resource_and_render(self, path, target_path='', template_variables=None):
        words = {'template_variables': template_variables or {}}
        if target_path:
            words['target_path'] = target_path
        return _run('download_resource_and_render', path, words)


ctx = _Context()
