// Preloaded into a manager's processes by NODE_OPTIONS. BENCH_SQL=count counts statements sent through pg and sums up their
// durations. BENCH_SQL=all records every statement with its connection, so that a baseline can repeat exactly the same. Each
// SIGUSR2 writes the data so far (with `all`: since the last time). If a file `off` exists beside it, the watch is removed, so
// that it does not affect the measurement.
const { existsSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const { BENCH_SQL: kind, BENCH_SQL_DIR: folder } = process.env;
const main = process.argv[1] ?? '';
const watched = /dist\/(apps\/standalone|services\/(?!gateway)[a-z-]+)\/main\.js$/;
if (kind && watched.test(main)) {
  const pg = require(join(main, '../../../node_modules/pg'));
  const original = pg.Client.prototype.query;
  const seen = { statements: 0, texts: {}, all: [] };
  pg.Client.prototype.query = function query(config, values, ...rest) {
    const text = typeof config === 'string' ? config : (config?.text ?? '');
    seen.statements += 1;
    const short = text.replace(/\s+/g, ' ').slice(0, 160);
    const entry = (seen.texts[short] ??= { count: 0, ms: 0 });
    entry.count += 1;
    if (kind === 'all') {
      seen.all.push({
        connection: this.processID ?? 0,
        schema: /search_path="?([\w-]+)/.exec(this.connectionParameters?.options ?? '')?.[1] ?? '',
        name: typeof config === 'string' ? undefined : config.name,
        text,
        values: Array.isArray(values) ? values : (config.values ?? []),
      });
    }
    if (kind !== 'count') return original.call(this, config, values, ...rest);
    const begin = performance.now();
    const done = () => {
      entry.ms += performance.now() - begin;
    };
    // A pool passes a callback as the last argument.
    const args = [values, ...rest].map((one) =>
      typeof one !== 'function'
        ? one
        : (...answer) => {
            done();
            one(...answer);
          },
    );
    const result = original.call(this, config, ...args);
    result?.then?.(done, done);
    return result;
  };
  let written = 0;
  process.on('SIGUSR2', () => {
    if (existsSync(join(folder, 'off'))) pg.Client.prototype.query = original;
    const file = join(folder, `${process.pid}-${++written}.json`);
    // Renamed when complete, so that readers never see a part.
    writeFileSync(`${file}.part`, JSON.stringify(seen));
    seen.all = [];
    renameSync(`${file}.part`, file);
  });
}
