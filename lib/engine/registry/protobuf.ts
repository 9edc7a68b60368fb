/** Describes protobuf messages: the field numbers of the parts that a kind decodes. */
export interface ProtobufMessage {
  [field: number]:
    | { name: string; type: 'string' | 'strings' }
    /** A map from strings to lists of strings: `map<string, ExtraValue>`. */
    | { name: string; type: 'map' }
    | { name: string; type: 'message'; fields: ProtobufMessage }
}

export const texts = (name: string) => ({ name, type: 'strings' }) as const
export const message = (name: string, fields: ProtobufMessage) => ({ name, type: 'message', fields }) as const

/** Returns text fields that are numbered from 1. */
export const textFields = (...names: string[]): ProtobufMessage =>
  Object.fromEntries(names.map((name, index) => [index + 1, { name, type: 'string' as const }]))
