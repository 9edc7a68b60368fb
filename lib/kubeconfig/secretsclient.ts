/**
 * What is used of @aws-sdk/client-secrets-manager. A lazy import of this module brings that into the bundles, one of the
 * package would bring every command.
 */
export { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
