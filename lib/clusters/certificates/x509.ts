/**
 * Exports the parts of @peculiar/x509 in use, after the metadata polyfill that it requires. A lazy import of this
 * module bundles only those; a lazy import of the package would bundle all of it.
 */
import 'reflect-metadata'

export { Name, Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
