/** Link-local addresses, and addresses of cloud metadata services outside the link-local range. */
export const LINK_LOCAL = {
  4: ['169.254.0.0/16', '224.0.0.0/24', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
  6: ['fe80::/10', 'ff02::/16', 'fd00:ec2::254', 'fd20:ce::254', 'fd00:42::42'],
} as const;
