/** The value of `spec.tokens` of a cluster with which service accounts issue the tokens. */
export const SERVICE_ACCOUNTS = 'ServiceAccounts'
