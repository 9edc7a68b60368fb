/** Takes the access key of a login from where the person put it. */
import { readIfThere } from '../config/privatefile.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { plain } from '../output/plain.ts'
import { wholeKeyIn } from './keytext.ts'
import { keyInEnvironment } from './session.ts'

const HINT = 'Give it with --key-file FILE, KEYPLANE_KEY, or on standard input.'

/** Returns the key in the file, in the environment, on standard input, or typed in the terminal, in this order. */
export async function givenKey(io: Io, keyFile: string | undefined, server: string): Promise<string> {
  const onStandardInput = async () => wholeKeyIn(await io.readStdin(), 'on standard input', HINT)
  if (keyFile === '-') return onStandardInput()
  if (keyFile !== undefined) {
    const text = await readIfThere(keyFile)
    if (text === undefined) throw new CliError(`The file ${keyFile} does not exist.`)
    return wholeKeyIn(text, `in the file ${keyFile}`)
  }
  const fromEnvironment = await keyInEnvironment(io.env)
  if (fromEnvironment !== undefined) return fromEnvironment
  if (!io.isTerminal.in) return onStandardInput()
  return wholeKeyIn(
    (await io.readHidden(`Access key for ${plain(server)} (it is not shown): `)) ?? '',
    'in your input',
    HINT,
  )
}
