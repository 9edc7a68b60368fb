/** Normalizes the path of a request to a path below the base path. */
import type { ApiRequest } from '../../endpoints/request.ts'
import { withoutTrailingSlashes } from '../../meta/value/slashes.ts'
import type { Config } from '../process/config.ts'

/**
 * Returns the path below the base path, without a trailing slash. The API is also served at the root, so a path without
 * the base path is unchanged. A mapping of a custom domain may precede the base path.
 */
export function servedPath({ path }: Pick<ApiRequest, 'path'>, { basePath }: Pick<Config, 'basePath'>): string {
  const at = `${path}/`.indexOf(`${basePath}/`)
  return withoutTrailingSlashes(path.slice(at < 0 ? 0 : at + basePath.length)) || '/'
}
