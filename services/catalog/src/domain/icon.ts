import { badParameter } from '@baton/kernel';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
export const MAX_ICON_BYTES = 1024 * 1024;

/** Returns the icon of a blueprint or plugin unchanged. @throws AppError bad_parameters_error when it is no PNG */
export function checkIcon(icon: Buffer): Buffer {
  if (icon.subarray(0, 4).equals(PNG)) return icon;
  throw badParameter('icon', 'the icon is not a PNG image', { expected: 'PNG' });
}
