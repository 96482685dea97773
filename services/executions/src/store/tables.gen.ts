export interface DB {
  executions: object;
}
