export { type Estate, type Items, makeEstate, SNAPSHOT_EXECUTION } from './estate';
export { RELEASES, type Release } from './legacy-columns';
export { manyEntries } from './many-entries';
export { openBytes, readAll } from './read-all';
export { type LegacyWriteOptions, legacyArchive, legacyEntries } from './write-legacy';
export { type PageOptions, pageEntries, pagesArchive } from './write-pages';
export { MADE_BY, withName, zipBytes } from './zip-bytes';
