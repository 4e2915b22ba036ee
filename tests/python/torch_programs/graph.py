"""Graph convolutions over a sparse adjacency matrix (torch.spmm) and graph attention, on a graph of two halves."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.parameter import Parameter

torch.manual_seed(42)
n = 40
labels = (torch.arange(n) >= n // 2).long()
same = labels[:, None] == labels[None, :]
adjacency = ((torch.rand(n, n) < torch.where(same, 0.4, 0.05)) | torch.eye(n, dtype=torch.bool)).float()
adjacency = adjacency / adjacency.sum(1, keepdim=True)
indices = adjacency.nonzero().t()
adj = torch.sparse_coo_tensor(indices, adjacency[indices[0], indices[1]], (n, n))
features = torch.randn(n, 6) + labels[:, None].float()


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features, use_bias=True):
        super().__init__()
        self.kernel = Parameter(torch.zeros(in_features, out_features))
        nn.init.xavier_normal_(self.kernel)
        self.bias = nn.Parameter(torch.zeros(out_features)) if use_bias else None

    def forward(self, input_tensor, adj_mat):
        support = torch.mm(input_tensor, self.kernel)
        output = torch.spmm(adj_mat, support)
        return output if self.bias is None else output + self.bias


class GCN(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim, dropout_p=0.1):
        super().__init__()
        self.gc1, self.gc2 = GraphConvolution(input_dim, hidden_dim), GraphConvolution(hidden_dim, output_dim)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, x, adj_mat):
        x = self.dropout(F.relu(self.gc1(x, adj_mat)))
        return F.log_softmax(self.gc2(x, adj_mat), dim=1)


class Attention(nn.Module):
    def __init__(self, in_features, out_features, n_heads=2):
        super().__init__()
        self.n_heads, self.n_hidden = n_heads, out_features // n_heads
        self.W = Parameter(torch.empty(in_features, out_features))
        self.a = Parameter(torch.empty(n_heads, 2 * self.n_hidden, 1))
        self.leakyrelu = nn.LeakyReLU(0.2)
        nn.init.xavier_normal_(self.W)
        nn.init.xavier_normal_(self.a)

    def forward(self, h, adj_mat):
        h = torch.mm(h, self.W).view(h.shape[0], self.n_heads, self.n_hidden).permute(1, 0, 2)
        source = torch.matmul(h, self.a[:, : self.n_hidden, :])
        target = torch.matmul(h, self.a[:, self.n_hidden :, :])
        e = self.leakyrelu(source + target.mT)
        attention = torch.where(adj_mat > 0, e, -9e16 * torch.ones_like(e))
        return torch.matmul(F.softmax(attention, dim=-1), h).permute(1, 0, 2).reshape(h.shape[1], -1)


for model, matrix in ((GCN(6, 8, 2), adj), (nn.ModuleList([Attention(6, 8), nn.Linear(8, 2)]), adjacency)):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    idx_train = torch.arange(0, n, 2)
    for _ in range(60):
        optimizer.zero_grad()
        output = (
            model(features, matrix)
            if isinstance(model, GCN)
            else F.log_softmax(model[1](F.elu(model[0](features, matrix))), 1)
        )
        loss = nn.NLLLoss()(output[idx_train], labels[idx_train])
        loss.backward()
        optimizer.step()
    accuracy = (output.argmax(1) == labels).float().mean().item()
    print(f"{type(model).__name__}: {loss.item():.4f}, {accuracy:.2f}")
    assert accuracy > 0.85
print("done")
