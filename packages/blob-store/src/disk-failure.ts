import { diskFailure } from '@baton/kernel';

/**
 * Runs `work` on the disk of `place`.
 * @throws AppError insufficient_storage_error or service_unavailable_error where the disk refuses; else what `work` throws.
 */
export async function onDisk<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskFailure(error, place) ?? error;
  }
}
