"""
Starts MiniStack, and adds what its version 1.5.33 lacks of an API that an OpenAPI document describes: methods for ANY,
gateway responses, binary media types, the roles with which API Gateway invokes functions and authorizers, and updates that
keep the ID of the API. API Gateway has all of them.
"""
from ministack.app import main
from ministack.core import iam_evaluator as iam
from ministack.services import apigateway_v1 as gateway
from ministack.services import iam as roles
from ministack.services.cloudformation import provisioners

ANY = "x-amazon-apigateway-any-method"
gateway._OPENAPI_HTTP_METHODS.add(ANY)
import_rest_api = gateway._import_rest_api
import_operation = gateway._import_operation
update_rest_api = provisioners._apigw_rest_api_update
invoke_function = gateway._invoke_lambda_proxy_v1
invoke_authorizer = gateway._invoke_authorizer_lambda


def import_with_credentials(api_id, resource_id, method, operation, *others):
    name = "ANY" if method == ANY.upper() else method
    import_operation(api_id, resource_id, name, operation, *others)
    imported = gateway._resources[api_id][resource_id]["resourceMethods"][name]["methodIntegration"]
    imported["credentials"] = operation["x-amazon-apigateway-integration"].get("credentials")


def import_whole(document, base=None):
    api_id = import_rest_api(document, base)
    for kind, response in document.get("x-amazon-apigateway-gateway-responses", {}).items():
        gateway._put_gateway_response(api_id, kind, response)
    api = gateway._rest_apis[api_id]
    api["binaryMediaTypes"] = document.get("x-amazon-apigateway-binary-media-types", [])
    api["minimumCompressionSize"] = document.get("x-amazon-apigateway-minimum-compression-size")
    return api_id


def update_in_place(api_id, old, new, stack, logical_id=None):
    """Imports into a new API, and moves what the document describes to the API that keeps its ID and stages."""
    if new.get("Body") != old.get("Body"):
        imported = import_whole(new["Body"], {})
        for store in (gateway._resources, gateway._authorizers_v1, gateway._gateway_responses):
            store[api_id] = store[imported]
        gateway._rest_apis[api_id].update({**gateway._rest_apis[imported], "id": api_id})
        gateway._delete_rest_api(imported)
    return update_rest_api(api_id, {**old, "Body": new.get("Body")}, new, stack, logical_id)


def may_invoke(role_arn, uri, account):
    """Reports whether API Gateway may assume the role, and the role may invoke the function."""
    name = (role_arn or "").rpartition("/")[2]
    role = roles._roles.get_scoped(account, None, name)
    if role is None or "apigateway.amazonaws.com" not in str(role["AssumeRolePolicyDocument"]):
        return False
    context = iam.EvalContext(
        principal_arn=role_arn,
        principal_type="AssumedRole",
        principal_account=account,
        action="lambda:InvokeFunction",
        resource_arn=uri.partition("/functions/")[2].rpartition("/")[0],
        region="",
    )
    return iam.evaluate(context, iam._gather_role_policies(name, account)).decision == "Allow"


async def invoke_with_role(integration, *others, owner_account_id=None, **named):
    if not may_invoke(integration.get("credentials"), integration["uri"], owner_account_id):
        return gateway._gw_error("API_CONFIGURATION_ERROR", "Internal server error")
    return await invoke_function(integration, *others, owner_account_id=owner_account_id, **named)


async def authorize_with_role(authorizer, event, account, region):
    if not may_invoke(authorizer.get("authorizerCredentials"), authorizer["authorizerUri"], account):
        return None
    return await invoke_authorizer(authorizer, event, account, region)


gateway._import_operation = import_with_credentials
gateway._import_rest_api = import_whole
gateway._invoke_lambda_proxy_v1 = invoke_with_role
gateway._invoke_authorizer_lambda = authorize_with_role
provisioners._RESOURCE_HANDLERS["AWS::ApiGateway::RestApi"]["update"] = update_in_place

main()
