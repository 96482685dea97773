// Loads the packages that tests need as Node does: once per process, instead of once per test file in a separate realm. The
// separate realms took half of the CPU of integration tests (docs/debugging.md, section One test). Our own sources, and with them
// all state of our modules, are loaded anew for each test file. host-environment.cjs restores everything else that a test file
// changes in the process.
const { sep } = require('node:path');
const Module = require('node:module');
const { createRequire } = Module;

const fromJest = createRequire(require.resolve('jest'));
const fromCore = createRequire(fromJest.resolve('@jest/core'));
const Runtime = fromCore('jest-runtime').default;

const OPTIONS = {
  isInternalModule: false,
  supportsDynamicImport: false,
  supportsExportNamespaceFrom: false,
  supportsStaticESM: false,
  supportsTopLevelAwait: false,
};

/** The jest transformer of the current test file; all files have the same configuration. */
let transformer;
/** Source maps of transformed files: stack traces name lines of the sources. */
const sourceMaps = new Map();

/** `plain`: loads files that jest.config.cjs does not transform; without it all files are transformed. */
function hook(extension, plain) {
  Module._extensions[extension] = (module, filename) => {
    if (plain && !transformer.shouldTransform(filename)) return plain(module, filename);
    const { code, sourceMapPath } = transformer.transform(filename, OPTIONS);
    if (sourceMapPath) sourceMaps.set(filename, sourceMapPath);
    module._compile(code, filename);
  };
}

function install() {
  if (Module._extensions['.ts']) return;
  const plain = Module._extensions['.js'];
  hook('.ts');
  hook('.js', plain);
  hook('.mjs', plain);
}

/** Removes our own modules from the cache. Keeps .cjs files such as this one, because jest itself holds them. */
function forgetOwn(root) {
  for (const path of Object.keys(require.cache))
    if (path.startsWith(root + sep) && !path.includes(`${sep}node_modules${sep}`) && !path.endsWith('.cjs'))
      delete require.cache[path];
}

module.exports = class NativeRuntime extends Runtime {
  constructor(config, environment, resolver, ofFile, ...rest) {
    super(config, environment, resolver, ofFile, ...rest);
    transformer = ofFile;
    install();
    forgetOwn(config.rootDir);
  }

  getSourceMaps() {
    return sourceMaps;
  }

  /** Loads test files and their set-up. Sources see the test file as `require.main`. */
  requireModule(from, name) {
    const path = name === undefined ? from : createRequire(from).resolve(name);
    delete require.cache[path];
    if (path !== this._testPath) return require(path);
    const module = new Module(path);
    process.mainModule = module;
    require.cache[path] = module;
    module.load(path);
    return module.exports;
  }

  /** Loads the test framework of jest anew: it keeps the state of one test file. */
  requireInternalModule(from, name) {
    return this.requireModule(from, name);
  }

  setGlobalsForRuntime(globals) {
    super.setGlobalsForRuntime(globals);
    Object.assign(globalThis, globals, { jest: this.jestGlobals.jestObjectFor(this._testPath) });
  }
};
