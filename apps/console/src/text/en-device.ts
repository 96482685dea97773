/** Texts of the page on which people decide about the login of a program. */
export const deviceTexts = {
  device: {
    title: 'Log in a program',
    signedInAs: (name: string) => `You are signed in as ${name}.`,
    enter: 'Enter the code that the program shows.',
    code: 'Code',
    hint: 'Eight letters, such as BCDF-GHJK',
    go: 'Continue',
    asks: 'A program asks to act as you',
    compare: 'Compare this code with the one that the program shows. Deny if they differ.',
    facts: {
      client: 'It calls itself',
      address: 'It asks from',
      age: 'It asked',
    },
    ago: (time: string) => `${time} ago`,
    justNow: 'just now',
    sameAddress: 'the same address as yours',
    otherAddress: 'This is not the address of your browser. Approve only if you know the machine.',
    phishing:
      'Did somebody send you this code or a link? Then deny: whoever sent it would act with all your rights.',
    confirm: 'I started this login myself, and the program shows this code.',
    approve: 'Approve',
    deny: 'Deny',
    approved: (client: string) => `Approved. ${client} goes on within a few seconds.`,
    revoke: 'Its token ends by itself. You can revoke it earlier among your tokens.',
    denied: 'Denied. The program gets no access.',
    decided: 'Somebody has decided about this login already.',
    close: 'You can close this page.',
    another: 'Enter another code',
    unknown:
      'No program waits with this code. Codes end after ten minutes: let the program show a new one if it is right.',
    noCode: 'This is no code. A code has eight letters, such as BCDF-GHJK.',
    tooMany: (seconds: number) => `Too many wrong codes. Wait ${seconds} s, then try again.`,
  },
};
