/** Prints an object or a list as JSON, as YAML, or as names. */
import { dumpYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonObject, JsonValue } from '../../../../lib/engine/meta/types.ts'
import type { Format } from '../arguments/command.ts'
import type { Io } from '../io/io.ts'
import { jsonpath } from './jsonpath.ts'
import { plain, plainLines, printableJson } from './plain.ts'

/**
 * Prints objects: one as itself, a list as its `items` for names. A terminal gets no unprintable characters. `ifLost` is as for `out`.
 */
export async function printAs(format: Format, object: JsonObject, io: Io, ifLost?: string): Promise<void> {
  const text = await formatted(format, object)
  io.out(io.isTerminal.out ? `${plainLines(text.replace(/\n$/, ''))}\n` : text, ifLost)
}

/** Prints a credential: exactly its bytes, because some clients send all that a file has, but a line in a terminal. */
export const printCredential = (value: string, io: Io, ifLost?: string): void =>
  io.out(io.isTerminal.out ? `${plain(value)}\n` : value, ifLost)

const JSONPATH = 'jsonpath='

async function formatted(format: Format, object: JsonObject): Promise<string> {
  if (format === 'json') return `${printableJson(JSON.stringify(object, null, 2))}\n`
  if (format === 'yaml') return dumpYaml(object)
  if (format.startsWith(JSONPATH)) return jsonpath(format.slice(JSONPATH.length), object)
  const items = Array.isArray(object.items) ? object.items : [object]
  return items.map((item) => `${plain(nameOf(item))}\n`).join('')
}

function nameOf(item: JsonValue | undefined): string {
  const metadata = (item as { metadata?: { name?: unknown } } | undefined)?.metadata
  return String(metadata?.name ?? '')
}
