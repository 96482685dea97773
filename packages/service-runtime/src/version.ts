/** Version of the product; a test compares it with package.json. */
export const productVersion = '0.2.0';
