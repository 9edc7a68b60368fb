/** Runs the local server as a process, with its table in a file: sends its address, and exits when its parent disconnects. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { startServer } from '../support/server.ts'

const folder = mkdtempSync(join(tmpdir(), 'bench-'))
process.once('exit', () => rmSync(folder, { recursive: true }))
const options = { unthrottled: true, file: join(folder, 'table.db') }
const { base, certificateAuthority, adminKey: token, stop } = await startServer({}, options)
process.once('disconnect', () => void stop().finally(() => process.exit()))
process.send?.({ base, certificateAuthority, token })
