/**
 * Implements the wire format of the DynamoDB client with the JSON functions of the engine. Those of the SDK walk every value
 * by its schema and escape texts character by character, which takes longer than the rest of a request.
 */
import { AwsJson1_0Protocol } from '@aws-sdk/core/protocols'

type Operation = Parameters<AwsJson1_0Protocol['serializeRequest']>[0]
type Context = Parameters<AwsJson1_0Protocol['serializeRequest']>[2]

/**
 * Returns the protocol for the configuration of a client. `uuid` makes the tokens by which DynamoDB recognizes a transaction
 * that the client sends again. Errors are decoded by the SDK.
 */
export const nativeProtocol = (uuid: () => string): typeof AwsJson1_0Protocol =>
  class extends AwsJson1_0Protocol {
    protected override serializer = new NativeSerializer()
    protected override deserializer = new NativeDeserializer()

    override serializeRequest<Input extends object>(operation: Operation, input: Input, context: Context) {
      const isTransaction = operation.name === 'TransactWriteItems'
      const sent = isTransaction ? { ClientRequestToken: uuid(), ...input } : input
      return super.serializeRequest(operation, sent, context)
    }
  }

/** The SDK takes the text before it writes the next one. */
class NativeSerializer {
  private text = ''

  setSerdeContext(): void {}

  write(_schema: unknown, input: unknown): void {
    this.text = JSON.stringify(input, base64)
  }

  flush(): string {
    const { text } = this
    this.text = ''
    return text
  }
}

/** Encodes bytes as base64, before a Buffer converts itself to JSON. */
function base64(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const given = this[name]
  if (!(given instanceof Uint8Array)) return value
  return Buffer.from(given.buffer, given.byteOffset, given.byteLength).toString('base64')
}

class NativeDeserializer {
  setSerdeContext(): void {}

  async read(schema: unknown, data: string | Uint8Array): Promise<unknown> {
    const text = typeof data === 'string' ? data : textOf(data)
    const parsed: unknown = JSON.parse(text)
    // Inside a JSON text, quotes are escaped, so only a member matches. The SDK decodes the members of an error by itself.
    if (schema !== DOCUMENT && /"B"\s*:/.test(text)) decodeBytes(parsed)
    return parsed
  }
}

/** The schema of a document in `@smithy/types`, with which the SDK reads an error before it knows its name. */
const DOCUMENT = 15

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8')

/** Decodes the attribute values of type B in the answer of an operation, where only these are texts named B. */
function decodeBytes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (name === 'B' && typeof member === 'string')
      Object.assign(value, { B: new Uint8Array(Buffer.from(member, 'base64')) })
    else decodeBytes(member)
  }
}
