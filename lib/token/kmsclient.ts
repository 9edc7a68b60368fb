/**
 * What is used of @aws-sdk/client-kms. A lazy import of this module brings that into the bundles, one of the package
 * would bring every command.
 */
export { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms'
