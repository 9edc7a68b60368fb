/** Runs the local server as a process: sends its address, and exits when its parent disconnects. */
import process from 'node:process'
import { startServer } from '../support/server.ts'

const { base, certificateAuthority, adminKey: token, stop } = await startServer({}, { unthrottled: true })
process.once('disconnect', () => void stop().finally(() => process.exit()))
process.send?.({ base, certificateAuthority, token })
