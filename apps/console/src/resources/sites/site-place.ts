/** Coordinates of a site: two numbers in the form, one text in the API. */
import { t } from '../../text/text';

export interface Place {
  latitude: string;
  longitude: string;
}

export const placeOf = (site: { latitude: number | null; longitude: number | null } | null): Place => ({
  latitude: site?.latitude?.toString() ?? '',
  longitude: site?.longitude?.toString() ?? '',
});

const DECIMAL = /^[+-]?\d{1,3}([.,]\d+)?$/;
const numberOf = (text: string): number =>
  DECIMAL.test(text.trim()) ? Number(text.trim().replace(',', '.')) : Number.NaN;

/** Returns `52.5, 13.4`; an empty text for no place. A decimal comma is accepted. */
export function readPlace({ latitude, longitude }: Place): {
  errors: Record<string, string>;
  location: string;
} {
  if (latitude.trim() === '' && longitude.trim() === '') return { errors: {}, location: '' };
  const errors: Record<string, string> = {};
  const [north, east] = [numberOf(latitude), numberOf(longitude)];
  if (!(Math.abs(north) <= 90)) errors.latitude = t.sites.faults.latitude;
  if (!(Math.abs(east) <= 180)) errors.longitude = t.sites.faults.longitude;
  return { errors, location: Object.keys(errors).length > 0 ? '' : `${north}, ${east}` };
}
