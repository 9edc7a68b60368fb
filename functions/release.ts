import { releaseHandler } from '../lib/server/release.ts'

export const handler = releaseHandler()
