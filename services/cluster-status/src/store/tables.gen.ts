export interface DB {
  instances: object;
}
