import { diskFailure } from '@baton/kernel';

/**
 * Runs `work`, which uses the disk of `place`.
 * @throws AppError insufficient_storage_error or service_unavailable_error where the disk refuses; else the error of `work`.
 */
export async function onDisk<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskFailure(error, place) ?? error;
  }
}
