/** Takes the access key of a login from where the person put it, and checks its form before it is sent anywhere. */
import { hasChecksum, KEY_PATTERN, KEY_PREFIX } from '../../../../lib/meta/value/keyformat.ts'
import { isBearer } from '../../../core/src/forms.ts'
import { readIfThere } from '../config/privatefile.ts'
import { CliError, UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { plain } from '../output/plain.ts'
import { keyInEnvironment } from './session.ts'

/** Returns the key in the file, in the environment, on standard input, or typed in the terminal, in this order. */
export async function givenKey(io: Io, keyFile: string | undefined, server: string): Promise<string> {
  return wholeKey(await read(io, keyFile, server), 'Give it with --key-file FILE, KEYPLANE_KEY, or on standard input.')
}

/** Returns the key that a text is, without the white space around it. Throws a UsageError without the text. */
export function wholeKey(text: string, hint: string): string {
  const key = text.trim()
  if (key === '') throw new UsageError('There is no access key.', hint)
  if (!isBearer(key))
    throw new UsageError('That is not an access key: it has spaces, line breaks or other characters that no key has.')
  if (key.startsWith(KEY_PREFIX) && !(KEY_PATTERN.test(key) && hasChecksum(key))) {
    throw new UsageError('That is not a whole access key: its checksum does not match. Was a part of it lost?')
  }
  return key
}

async function read(io: Io, keyFile: string | undefined, server: string): Promise<string> {
  if (keyFile === '-') return io.readStdin()
  if (keyFile !== undefined) {
    const text = await readIfThere(keyFile)
    if (text === undefined) throw new CliError(`The file ${keyFile} does not exist.`)
    return text
  }
  const fromEnvironment = await keyInEnvironment(io.env)
  if (fromEnvironment !== undefined) return fromEnvironment
  if (!io.isTerminal.in) return io.readStdin()
  return (await io.readHidden(`Access key for ${plain(server)} (it is not shown): `)) ?? ''
}
