import { badParameter } from '@baton/kernel';

export interface Location {
  latitude: number;
  longitude: number;
}

const EXPECTED = '"<latitude>, <longitude>" in decimal degrees, -90..90 and -180..180';
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Parses the location of a site; null for none (reference/rest-api.md 8.4).
 * @throws AppError bad_parameters_error
 */
export function parseLocation(text: string | null | undefined): Location | null {
  if (text === null || text === undefined || text === '') return null;
  const parts = text.split(',').map((part) => part.trim());
  const [latitude, longitude] = parts.map(Number);
  const isValid =
    parts.length === 2 &&
    parts.every((part) => DECIMAL.test(part)) &&
    Math.abs(latitude!) <= 90 &&
    Math.abs(longitude!) <= 180;
  if (!isValid) throw badParameter('location', `Invalid location \`${text}\``, { expected: EXPECTED });
  return { latitude: latitude!, longitude: longitude! };
}

/** Formats a location as `34.5, -56.25`; whole numbers keep one decimal. */
export function formatLocation(latitude: number | null, longitude: number | null): string | null {
  return latitude === null || longitude === null ? null : `${decimal(latitude)}, ${decimal(longitude)}`;
}

function decimal(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
