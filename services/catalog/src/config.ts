import { envValue, runtimeConfig } from '@baton/service-runtime';
import type { z } from 'zod';

const MIB = 1024 * 1024;

export const configSchema = runtimeConfig.extend({
  BATON_BLUEPRINT_MAX_BYTES: envValue
    .integer(1024, 1024 * MIB)
    .prefault(String(64 * MIB))
    .describe('Largest blueprint archive in bytes'),
  BATON_BLUEPRINT_MAX_UNPACKED_BYTES: envValue
    .integer(1024, 8192 * MIB)
    .prefault(String(96 * MIB))
    .describe('Most bytes that a blueprint archive may unpack to'),
  BATON_BLUEPRINT_MAX_FILES: envValue
    .integer(1, 1_000_000)
    .prefault('10000')
    .describe('Most entries of a blueprint archive'),
  BATON_PLUGIN_MAX_BYTES: envValue
    .integer(1024, 8192 * MIB)
    .prefault(String(1024 * MIB))
    .describe('Largest plugin archive in bytes'),
  BATON_FOLDER_MAX_FILES: envValue
    .integer(1, 1_000_000)
    .prefault('10000')
    .describe(
      'Most files of a working folder of a deployment, and of the files of a tenant or of all tenants',
    ),
  BATON_FOLDER_MAX_BYTES: envValue
    .integer(1024, 1024 * 1024 * MIB)
    .prefault(String(1024 * MIB))
    .describe('Most bytes of such a folder'),
  BATON_FOLDER_MAX_FILE_BYTES: envValue
    .integer(1024, 1024 * 1024 * MIB)
    .prefault(String(512 * MIB))
    .describe('Most bytes of one file in such a folder'),
  BATON_ARCHIVE_MAX_RATIO: envValue
    .integer(2, 10_000)
    .prefault('200')
    .describe('Most unpacked bytes for one byte of archive'),
  BATON_UNPACK_TIME: envValue
    .durationMs()
    .prefault('60s')
    .describe('Longest time that unpacking an archive may take'),
  BATON_PARSE_TIME: envValue
    .durationMs()
    .prefault('30s')
    .describe('Longest time that parsing a blueprint may take'),
  BATON_PARSE_MEMORY_MB: envValue
    .integer(32, 8192)
    .prefault('256')
    .describe('Most memory of a thread that parses, in MiB'),
  BATON_PARSE_THREADS: envValue.integer(1, 64).prefault('2').describe('Threads that parse blueprints'),
  BATON_DOWNLOAD_TIME: envValue
    .durationMs()
    .prefault('120s')
    .describe('Longest time that fetching an archive from a URL may take'),
  BATON_PLUGINS_REQUIRE_SIGNATURE: envValue
    .flag()
    .prefault('false')
    .describe('Take only plugins that a key which the tenant trusts has signed, in all tenants'),
  BATON_PLUGINS_DEV: envValue
    .flag()
    .prefault('false')
    .describe('Take builds of plugins under development, which replace each other (baton plugins dev)'),
  BATON_ALLOW_PRIVATE_URLS: envValue
    .flag()
    .prefault('false')
    .describe('Let archives and imports be fetched from private, loopback and link-local addresses'),
});

export type Config = Readonly<z.output<typeof configSchema>>;
