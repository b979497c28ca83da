"""s3.py PORT FILE: an S3 that checks signatures, with a bucket named `stet`; writes a user's keys to FILE."""
import json
import logging
import os
import sys
import time

os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"  # the four calls below; after them every request must be signed
import boto3
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.ERROR)
port, keys = int(sys.argv[1]), sys.argv[2]
server = ThreadedMotoServer(ip_address="127.0.0.1", port=port)
server.start()
place = {"endpoint_url": f"http://127.0.0.1:{port}", "region_name": "us-east-1", "aws_access_key_id": "x",
         "aws_secret_access_key": "x"}
boto3.client("s3", **place).create_bucket(Bucket="stet")
iam = boto3.client("iam", **place)
iam.create_user(UserName="stet")
allow = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
iam.put_user_policy(UserName="stet", PolicyName="all", PolicyDocument=json.dumps(allow))
made = iam.create_access_key(UserName="stet")["AccessKey"]
with open(keys + ".new", "w") as f:
    json.dump({"AWS_ACCESS_KEY_ID": made["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"]}, f)
os.rename(keys + ".new", keys)
while True:
    time.sleep(60)
