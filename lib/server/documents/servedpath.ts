/** The path of a request as this API knows it, wherever it is served. */
import type { ApiRequest } from '../../endpoints/request.ts'
import { withoutTrailingSlashes } from '../../meta/value/slashes.ts'
import type { Config } from '../process/config.ts'

/**
 * Returns the path below the base path, without a closing slash. A path at the root is the same path: it is served there too.
 * The mapping of a custom domain may stand before the base path.
 */
export function servedPath({ path }: Pick<ApiRequest, 'path'>, { basePath }: Pick<Config, 'basePath'>): string {
  const at = `${path}/`.indexOf(`${basePath}/`)
  return withoutTrailingSlashes(path.slice(at < 0 ? 0 : at + basePath.length)) || '/'
}
