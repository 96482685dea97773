/** A text that binds the sealed secret of a trigger to its address: a trigger that is made anew under the id has another one. */
export const useOfTrigger = (address: string): string => `triggers/${address}`;
