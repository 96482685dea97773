export type { CompositionDeps } from './deps';
export { compositionPlugin } from './plugin';
