"""Installs a plugin into a virtual environment of its own: baton_install.py wagon|source ARCHIVE TARGET [ARGUMENTS].

A wagon (tar.gz or zip with wheels/*.whl) holds everything that it needs: its wheels are unpacked, nothing is downloaded and
none of its code runs. A source is a folder with a setup.py or pyproject.toml, which pip builds. The environment is made
beside TARGET and renamed when it is whole. What is wrong is told on stderr, exit code 1.
"""
import compileall
import io
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile

_MAX_BYTES = 4 * 1024 ** 3
_MAX_FILES = 200000
# What plugins require of the manager's own packages is there already.
_PROVIDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fallback')


class Refused(Exception):
    pass


def _wheels(archive):
    """Pairs of name and content of the wheels in a wagon."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for name in packed.namelist():
                if re.search(r'/wheels/[^/]+\.whl$', name):
                    yield os.path.basename(name), packed.read(name)
        return
    try:
        with tarfile.open(archive) as packed:
            for member in packed:
                if member.isfile() and re.search(r'/wheels/[^/]+\.whl$', member.name):
                    yield os.path.basename(member.name), packed.extractfile(member).read()
    except tarfile.TarError as error:
        raise Refused('the wagon is neither a tar nor a zip archive: %s' % error)


def _runs_here(wheel):
    """Whether the tags of the file name fit this interpreter and machine."""
    parts = wheel[:-4].rsplit('-', 3)
    if len(parts) != 4:
        raise Refused('the name of the wheel %s does not say for what it is made' % wheel)
    python, abi, system = parts[1:]
    major, minor = sys.version_info[:2]
    own = {'py%d' % major, 'py%d%d' % (major, minor), 'cp%d%d' % (major, minor)}
    older = ['cp%d%d' % (major, n) for n in range(2, minor + 1)]
    fits = own & set(python.split('.')) or ('abi3' in abi and set(older) & set(python.split('.')))
    machine = platform.machine().lower()
    return bool(fits) and any(tag == 'any' or ('linux' in tag and tag.endswith(machine)) for tag in system.split('.'))


class _Room(object):
    def __init__(self):
        self.bytes, self.files = 0, 0

    def take(self, entry):
        self.bytes += entry.file_size
        self.files += 1
        if self.bytes > _MAX_BYTES or self.files > _MAX_FILES:
            raise Refused('its wheels hold more than %d bytes or %d files' % (_MAX_BYTES, _MAX_FILES))


def _place(name, site, target):
    """Where a file of a wheel belongs: `x.data/KIND/...` into the folders of its kind, else beside the packages."""
    parts = [part for part in name.split('/') if part not in ('', '.')]
    if '..' in parts or name.startswith('/'):
        raise Refused('a wheel holds the path %s' % name)
    if not parts[0].endswith('.data') or len(parts) < 3:
        return os.path.join(site, *parts)
    roots = {'purelib': site, 'platlib': site, 'scripts': os.path.join(target, 'bin'), 'data': target,
             'headers': os.path.join(target, 'include')}
    return os.path.join(roots.get(parts[1], site), *parts[2:])


def _unpack_wheel(content, site, made, target, room):
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        for entry in packed.infolist():
            if entry.is_dir():
                continue
            room.take(entry)
            place = _place(entry.filename, site, made)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            is_script = os.path.dirname(place) == os.path.join(made, 'bin')
            with packed.open(entry) as source, open(place, 'wb') as written:
                if is_script:
                    first = source.readline()
                    written.write(_first_line(target) if first.startswith(b'#!python') else first)
                shutil.copyfileobj(source, written)
            os.chmod(place, 0o755 if is_script or (entry.external_attr >> 16) & 0o111 else 0o644)
            if entry.filename.endswith('.dist-info/entry_points.txt'):
                _write_commands(place, os.path.join(made, 'bin'), target)


def _first_line(target):
    return ('#!%s/bin/python\n' % target).encode('utf-8')


def _write_commands(entry_points, folder, target):
    section = ''
    with open(entry_points, encoding='utf-8') as lines:
        for line in lines:
            line = line.strip()
            if line.startswith('['):
                section = line
            found = re.match(r'([\w.-]+)\s*=\s*([\w.]+)\s*:\s*([\w.]+)', line)
            if section != '[console_scripts]' or not found:
                continue
            name, module, function = found.groups()
            path = os.path.join(folder, name)
            with open(path, 'wb') as command:
                command.write(_first_line(target) + (
                    'import sys\nfrom %s import %s\nsys.exit(%s())\n' % (module, function.split('.')[0], function)
                ).encode('utf-8'))
            os.chmod(path, 0o755)


def _broken(what, error):
    return Refused('%s is broken: %s: %s' % (what, type(error).__name__, error))


def _install_wagon(archive, site, made, target):
    try:
        wheels = dict(_wheels(archive))
    except Refused:
        raise
    except Exception as error:
        raise _broken('the wagon', error)
    if not wheels:
        raise Refused('the wagon holds no wheels')
    strange = sorted(name for name in wheels if not _runs_here(name))
    of_others = set(name.split('-')[0].lower() for name in wheels if name not in strange)
    missing = [name for name in strange if name.split('-')[0].lower() not in of_others]
    if missing:
        raise Refused('it is made for another Python or machine than this worker has (Python %d.%d, %s): %s' % (
            sys.version_info[0], sys.version_info[1], platform.machine(), ', '.join(missing[:5])))
    room = _Room()
    for name in sorted(set(wheels) - set(strange)):
        try:
            _unpack_wheel(wheels[name], site, made, target, room)
        except (Refused, OSError):
            raise
        except Exception as error:
            # Damaged bytes show as errors of many types: zipfile, zlib, the end of the file, the encoding of a text.
            raise _broken('the wheel %s' % name, error)


def _install_source(folder, site, made, arguments):
    python = os.path.join(made, 'bin', 'python')
    command = [sys.executable, '-m', 'pip', '--disable-pip-version-check', '--python', python, 'install', '--no-cache-dir',
               folder]
    requirements = os.path.join(folder, 'requirements.txt')
    command += ['-r', requirements] if os.path.isfile(requirements) and '-r' not in arguments else []
    done = subprocess.run(command + arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Refused('pip could not install it:\n%s' % done.stdout.decode('utf-8', 'replace')[-8000:])


def main():
    kind, source, target = sys.argv[1:4]
    made = '%s.%d' % (target, os.getpid())
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        venv.create(made, with_pip=False, symlinks=True)
        site = sysconfig.get_path('purelib', 'posix_prefix', {'base': made, 'platbase': made})
        with open(os.path.join(site, 'baton.pth'), 'w') as link:
            link.write(_PROVIDED + '\n')
        if kind == 'wagon':
            _install_wagon(source, site, made, target)
        else:
            _install_source(source, site, made, shlex.split(sys.argv[4] if len(sys.argv) > 4 else ''))
        compileall.compile_dir(site, quiet=2)
        try:
            os.rename(made, target)
        except OSError:
            # Another worker was first.
            if not os.path.isdir(target):
                raise
    except (Refused, OSError, zipfile.BadZipFile, subprocess.SubprocessError) as error:
        sys.stderr.write('%s\n' % error)
        sys.exit(1)
    finally:
        shutil.rmtree(made, ignore_errors=True)


if __name__ == '__main__':
    main()
