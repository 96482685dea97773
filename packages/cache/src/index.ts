export { createLocalCache, type LocalCacheOptions } from './local-cache';
export type { Cache } from './port';
export { createRedisCache, type RedisCacheOptions } from './redis-cache';
export { createSealedTexts, type SealedTexts } from './sealed-texts';
