/** Why a pickle is not read. The place is added by the caller. */
export class PickleFault extends Error {
  override readonly name = 'PickleFault';
}
