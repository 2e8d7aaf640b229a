"""
The filters of kube-scheduler's default profile that pods and nodes decide, one file each.
"""
