// Compressed forms beside the files: the gateway sends them as they are (services/gateway/src/console-files.ts).
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const COMPRESSED = /\.(js|css|html|svg|json)$/;
const LEAST_BYTES = 512;

/** A plugin of Vite that writes .br and .gz when the files are there. */
export function precompress() {
  let folder;
  return {
    name: 'precompress',
    apply: 'build',
    configResolved: (config) => {
      folder = join(config.root, config.build.outDir);
      if (config.build.outDir.startsWith('/')) folder = config.build.outDir;
    },
    closeBundle: {
      order: 'post',
      handler() {
        // A build that failed has written nothing; its own error is the one to show.
        if (!existsSync(folder)) return;
        for (const name of readdirSync(folder, { recursive: true })) {
          if (!COMPRESSED.test(name)) continue;
          const bytes = readFileSync(join(folder, name));
          if (bytes.length < LEAST_BYTES) continue;
          const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 };
          writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params: quality }));
          writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
        }
      },
    },
  };
}
