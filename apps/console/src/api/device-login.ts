/** Logins that programs ask for. Codes are sent in bodies: addresses stand in histories and logs. */
import type { Client, Schemas } from '@baton/client';

export type AskedLogin = Schemas['AskedDeviceLogin'];

export const lookUpLogin = (client: Client, userCode: string): Promise<AskedLogin> =>
  client.call('getDeviceLogin', { body: { user_code: userCode } });

/** `isApproved`: the user has compared the codes, and lets the program in. */
export const decideLogin = (client: Client, userCode: string, isApproved: boolean): Promise<AskedLogin> =>
  isApproved
    ? client.call('approveDeviceLogin', { body: { user_code: userCode, is_confirmed: true } })
    : client.call('denyDeviceLogin', { body: { user_code: userCode } });
