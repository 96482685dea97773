import type { ErrorOf } from './form-dialog';

/** The error of a part of a row, however the manager writes its place: `mapping[0].group` or `mapping.0.group`. */
export const rowProblem = (errorOf: ErrorOf, list: string, at: number, part = ''): string | null => {
  const rest = part && `.${part}`;
  return errorOf(`${list}[${at}]${rest}`) ?? errorOf(`${list}.${at}${rest}`);
};
