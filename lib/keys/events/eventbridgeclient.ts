/**
 * Exports the parts of @aws-sdk/client-eventbridge in use. A lazy import of this module bundles only those; a lazy import
 * of the package would bundle every command.
 */
export { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
