export { openZip, type ZipEntry, type ZipLimits, type ZipReader } from './open-zip';
export { bufferSource, fileSource, type RandomAccessSource } from './source';
export { ZipRefused } from './zip-refused';
