/**
 * Exports the parts of @aws-sdk/client-secrets-manager in use. A lazy import of this module bundles only those; a lazy
 * import of the package would bundle every command.
 */
export { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
