/**
 * Exports the parts of @aws-sdk/client-kms in use. A lazy import of this module bundles only those; a lazy import of
 * the package would bundle every command.
 */
export { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms'
