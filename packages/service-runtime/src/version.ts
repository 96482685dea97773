/** Version of the product; a test holds it against package.json. */
export const productVersion = '0.2.0';
