export { createLocalCache, type LocalCacheOptions } from './local-cache';
export type { Cache } from './port';
export { createRedisCache, type RedisCacheOptions } from './redis-cache';
export { redisRules, redisUsers } from './redis-users';
export { createSealedTexts, type SealedTexts } from './sealed-texts';
